//go:build !race

// One goroutine fills caches, which takes a minute with -race:
// ./xcaddy.sh test runs tests of files like this without -race.

package token

import (
	"crypto/sha256"
	"fmt"
	"math/rand/v2"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/gatehouse/gatehouse/module/internal/secret"
)

// genuine is the content of a token as a site issues it.
func genuine(i int, now time.Time) (sum, parsed) {
	digest := sha256.Sum256(fmt.Append(nil, i))
	return sum(digest[:]), parsed{Access: Access{
		ID: secret.ID(), Issuer: strings.Clone("https://id.example.com"), Subject: secret.ID(), Grant: secret.ID(), KeyID: strings.Clone("8d0b1f4a5c6e7f80"),
		Client: fmt.Sprint("client-", i%100), Audience: []string{strings.Clone("https://api.example.com")}, Scopes: []string{strings.Clone("articles:read"), strings.Clone("articles:write")},
		IssuedAt: SecondsOf(now), Expires: now.Add(time.Hour),
	}}
}

func heap() int64 {
	var m runtime.MemStats
	runtime.GC()
	runtime.GC()
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}

// With as many tokens as fit, twice and ten times as many, the cache takes no more memory than it may.
func TestCacheMemoryStaysWithinItsSize(t *testing.T) {
	now := time.Now()
	for _, size := range []int64{MinCache, 8 << 20} {
		before := heap()
		c, err := newVerifiedCache(size)
		if err != nil {
			t.Fatal(err)
		}
		fits := int((size*15/16 - int64(sharedBytes)) / 400)
		for _, times := range []int{1, 2, 10} {
			for i := range times * fits {
				c.remember(genuine(i, now))
			}
			c.good.CleanUp()
			held, s := heap()-before, c.stats()
			each := (held - int64(sharedBytes)) / int64(max(s.Tokens, 1))
			t.Logf("%d bytes, %2d x: %6d tokens, %d bytes of heap, %d a token, %d counted", size, times, s.Tokens, held, each, s.Bytes)
			if held > size || each > 400 {
				t.Errorf("%d x: %d bytes of heap, %d a token, expected at most %d and 400", times, held, each, size)
			}
			if s.Tokens < fits {
				t.Errorf("%d x: %d tokens, expected %d", times, s.Tokens, fits)
			}
		}
		runtime.KeepAlive(c)
	}
}

// With more tokens in use than fit, as many are found as fit: there is no cliff.
func BenchmarkCacheBeyondItsSize(b *testing.B) {
	now := time.Now()
	const size = 8 << 20
	fits := int((size - sharedBytes) / 400)
	for _, times := range []int{1, 2, 10} {
		b.Run(fmt.Sprint(times, "x"), func(b *testing.B) {
			c, err := newVerifiedCache(size)
			if err != nil {
				b.Fatal(err)
			}
			random := rand.New(rand.NewPCG(1, 1))
			all := make([]parsed, times*fits)
			keys := make([]sum, len(all))
			for i := range all {
				keys[i], all[i] = genuine(i, now)
			}
			hits := 0
			ask := func() bool {
				i := random.IntN(len(all))
				if _, ok := c.good.GetIfPresent(keys[i]); ok {
					return true
				}
				c.remember(keys[i], all[i])
				return false
			}
			for range 4 * len(all) {
				ask()
			}
			for b.Loop() {
				if ask() {
					hits++
				}
			}
			b.ReportMetric(float64(hits)/float64(b.N), "hits/op")
		})
	}
}

// Tokens that do not fit are verified again; none is refused.
func TestTokensBeyondTheCacheAreValid(t *testing.T) {
	n := start(t, "EdDSA")
	v, err := NewVerifier(VerifierConfig{Ring: n.ring, Revocations: n.revocations, Now: n.now})
	if err != nil {
		t.Fatal(err)
	}
	v.ResizeCache(int64(sharedBytes) + 100<<10) // 250 tokens
	var tokens []string
	for _, times := range []int{1, 2, 10} {
		for len(tokens) < 250*times {
			tokens = append(tokens, n.issue(t))
		}
		for range 3 {
			for _, raw := range tokens {
				if _, err := v.Verify(t.Context(), raw); err != nil {
					t.Fatalf("%d x: %v", times, err)
				}
			}
		}
		v.cache.good.CleanUp()
		if s := v.CacheStats(); s.Bytes > 100<<10 || s.Tokens < 200 || s.Hits+s.Misses == 0 {
			t.Errorf("%d x: %+v", times, s)
		}
	}
}

// BenchmarkVerifyBeyondTheCache is the whole verification: from one to ten times as many tokens as fit, its cost grows
// from that of a hit to that of a miss.
func BenchmarkVerifyBeyondTheCache(b *testing.B) {
	const fits = 500
	for _, times := range []int{1, 2, 10} {
		b.Run(fmt.Sprint(times, "x"), func(b *testing.B) {
			n := start(b, "ES256")
			v, err := NewVerifier(VerifierConfig{Ring: n.ring, Revocations: n.revocations, Now: n.now})
			if err != nil {
				b.Fatal(err)
			}
			v.ResizeCache(int64(sharedBytes) + fits*420)
			tokens := make([]string, fits*times)
			for i := range tokens {
				tokens[i] = n.issue(b)
			}
			random := rand.New(rand.NewPCG(1, 1))
			ask := func() {
				if _, err := v.Verify(b.Context(), tokens[random.IntN(len(tokens))]); err != nil {
					b.Fatal(err)
				}
			}
			for range 4 * len(tokens) {
				ask()
			}
			before := v.CacheStats()
			for b.Loop() {
				ask()
			}
			after := v.CacheStats()
			b.ReportMetric(float64(after.Hits-before.Hits)/float64(b.N), "hits/op")
		})
	}
}
