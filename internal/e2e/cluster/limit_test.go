package cluster

import (
	"math/rand/v2"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/gatehouse/gatehouse/internal/testkit/redistest"
)

// L02.
func TestFloodOnThreeNodesPassesExactlyTheLimit(t *testing.T) {
	c := start(t, plan{limit: "client 100 1m"})
	access := c.machineToken(t, c.nodes[0])
	const flood, limit = 3000, 100
	answers, errs := make([]answer, flood), make([]error, flood)
	begun := time.Now()
	atOnce(flood, func(i int) { answers[i], errs[i] = c.nodes[i%nodesOfCluster].read(access) })
	took := time.Since(begun)
	passed := 0
	for i, a := range answers {
		switch {
		case errs[i] != nil:
			t.Fatal(errs[i])
		case a.status == http.StatusOK:
			passed++
		case a.status != http.StatusTooManyRequests || a.header.Get("X-RateLimit-Limit") != "100" || a.header.Get("Retry-After") == "":
			t.Fatal(a, a.header)
		}
	}
	if passed != limit {
		t.Errorf("%d of %d passed", passed, flood)
	}
	t.Logf("%d of %d passed in %v", passed, flood, took)
}

// E20, L03: random arrivals, five times as many as may pass.
func TestNoWindowOnThreeNodesExceedsTheLimit(t *testing.T) {
	length, window, limit := 30*time.Second, time.Second, 40
	policy := "client 40 1s"
	if times(0, 1) == 1 {
		length, window, limit, policy = 10*time.Minute, 10*time.Second, 400, "client 400 10s"
	}
	c := start(t, plan{limit: policy})
	access := c.machineToken(t, c.nodes[0])
	type pass struct{ sent, received time.Duration }
	var mu sync.Mutex
	var passes []pass
	asked := 0
	var wg sync.WaitGroup
	begun := time.Now()
	for due := time.Duration(0); due < length; {
		// Poisson arrivals, each at a node by chance.
		due += time.Duration(rand.ExpFloat64() * float64(window) / float64(5*limit))
		time.Sleep(due - time.Since(begun))
		n := c.nodes[rand.IntN(nodesOfCluster)]
		asked++
		wg.Go(func() {
			sent := time.Since(begun)
			a, err := n.read(access)
			received := time.Since(begun)
			if err != nil || a.status != http.StatusOK && a.status != http.StatusTooManyRequests {
				t.Error(a, err)
				return
			}
			if a.status == http.StatusOK {
				mu.Lock()
				passes = append(passes, pass{sent, received})
				mu.Unlock()
			}
		})
	}
	wg.Wait()
	// A pass was admitted between sent and received: those that lie within a window as a
	// whole are certainly in it.
	slices.SortFunc(passes, func(a, b pass) int { return int(a.sent - b.sent) })
	most := 0
	for i, first := range passes {
		n := 0
		for _, p := range passes[i:] {
			if p.sent > first.sent+window {
				break
			}
			if p.received < first.sent+window {
				n++
			}
		}
		most = max(most, n)
	}
	if most > limit {
		t.Errorf("%d passes within %v, the limit is %d", most, window, limit)
	}
	// Under overload each window and one slot more is used up.
	least := int(length/(window+window/60+50*time.Millisecond)) * limit
	if len(passes) < least {
		t.Errorf("%d passes in %v, at least %d were possible", len(passes), length, least)
	}
	t.Logf("%d of %d passed in %v at %d for each %v, at most %d in one window", len(passes), asked, length, limit, window, most)
}

// L10.
func TestLimiterKeysExpireWithinTwoWindows(t *testing.T) {
	s := redistest.Start(t)
	const window = 2 * time.Second
	c := start(t, plan{redis: s, limit: "client 5 2s\n\t\tip 1000 2s\n\t\tby path {http.request.uri.path} 1000 2s\n\t\tall 1000 2s"})
	access := c.machineToken(t, c.nodes[0])
	before := keys(s, "*")
	for i := range 30 {
		if a, err := c.nodes[i%nodesOfCluster].read(access); err != nil || a.status != http.StatusOK && a.status != http.StatusTooManyRequests {
			t.Fatal(a, err)
		}
	}
	counted := slices.DeleteFunc(keys(s, "*"), func(k string) bool {
		return slices.Contains(before, k) || strings.HasSuffix(k, ":nodes") || strings.Contains(k, ":limit:salt{") // who lives, and what they agree on, is no count
	})
	if len(counted) < 4 {
		t.Fatalf("four policies are counted under %d keys: %q", len(counted), counted)
	}
	for _, k := range keys(s, "*:limit:*") {
		if ttl := s.CLI("pttl", k); ttl == "-1" {
			t.Errorf("%s has no time to live", k)
		}
	}
	time.Sleep(2 * window)
	if left := slices.DeleteFunc(keys(s, "*"), func(k string) bool { return !slices.Contains(counted, k) }); len(left) > 0 {
		t.Errorf("two windows later there are still %q", left)
	}
}

// keys are those in a Redis that match.
func keys(s *redistest.Server, pattern string) []string {
	return strings.Fields(s.CLI("keys", pattern))
}
