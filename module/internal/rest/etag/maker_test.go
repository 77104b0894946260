package etag_test

import (
	"crypto/md5"
	"encoding/base64"
	"encoding/hex"
	"strconv"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/gatehouse/gatehouse/module/internal/rest/etag"
	"github.com/gatehouse/gatehouse/module/internal/secret"
)

func keys(t testing.TB, secrets ...string) *secret.Keys {
	t.Helper()
	var raw [][]byte
	for _, s := range secrets {
		raw = append(raw, []byte(strings.Repeat(s, 32)))
	}
	k, err := secret.NewKeys(raw...)
	if err != nil {
		t.Fatal(err)
	}
	return k
}

func makers(t testing.TB, plan string) map[string]*etag.Maker {
	t.Helper()
	return map[string]*etag.Maker{"plain": {Plan: plan}, "sealed": {Plan: plan, Hide: true, Keys: keys(t, "a")}}
}

// Where a tag of ours comes from is known under the same plan, and under no other.
func TestUpstreamTagIsRecoveredUnderTheSamePlanOnly(t *testing.T) {
	for name, m := range makers(t, "") {
		rapid.Check(t, func(t *rapid.T) {
			opaque := rapid.StringMatching(`[!#-~]{0,128}`).Draw(t, "opaque")
			weak := rapid.Bool().Draw(t, "weak")
			upstream := etag.Tag{Weak: weak, Opaque: opaque}
			m.Plan = etag.Plan("a", rapid.String().Draw(t, "plan"))
			ours, ok := m.Derive(upstream.String())
			if !ok || ours.Weak != weak {
				t.Fatalf("%s: %v of %v", name, ours, upstream)
			}
			if again, ok := m.Derive(upstream.String()); !ok || again != ours {
				t.Fatalf("%s: %v, then %v", name, ours, again)
			}
			list, ok := etag.ParseList([]string{ours.String()})
			if !ok || len(list.Tags) != 1 || list.Tags[0] != ours {
				t.Fatalf("%s: %v is read as %v", name, ours, list)
			}
			if back, ok := m.Underlying(ours); !ok || back != upstream {
				t.Fatalf("%s: %v came back as %v", name, upstream, back)
			}
			// nginx makes a tag weak when it compresses the response.
			if back, ok := m.Underlying(etag.Tag{Weak: true, Opaque: ours.Opaque}); !ok || back != upstream {
				t.Fatalf("%s: %v came back as %v from a weak spelling", name, upstream, back)
			}
			if opposite, _ := m.Derive(etag.Tag{Weak: !weak, Opaque: opaque}.String()); opposite.Opaque == ours.Opaque {
				t.Fatalf("%s: %v and %v have the same text", name, ours, opposite)
			}
			if _, ok := (&etag.Maker{Plan: etag.Plan("b"), Hide: m.Hide, Keys: m.Keys}).Underlying(ours); ok {
				t.Fatal(name, "another plan knows it")
			}
		})
	}
}

func TestOverlongETagIsHashedAndInvalidOnesDropped(t *testing.T) {
	for name, m := range makers(t, "p") {
		long := `"` + strings.Repeat("x", 129) + `"`
		a, ok := m.Derive(long)
		b, _ := m.Derive(`"` + strings.Repeat("x", 130) + `"`)
		if _, back := m.Underlying(a); !ok || back || a == b || len(a.Opaque) > 80 {
			t.Errorf("%s: %v %v", name, a, b)
		}
		for _, none := range []string{"", "x", `"x`, `"x" y`, `"a b"`, `"a","b"`, "*"} {
			if tag, ok := m.Derive(none); ok {
				t.Errorf("%s: %q became %v", name, none, tag)
			}
		}
		// What only looks like ours reaches no upstream.
		for _, forged := range []string{
			"u.p.!!", "u.p.AA", "u.p.IA", "u.p.Ig", "u.p." + strings.Repeat("YQ", 200), "d.p.YQ", "u.q.YQ", "s.p.YQ", "s.p.", "s.p." + strings.Repeat("YQ", 60), "ws.p.YQ",
		} {
			if u, ok := m.Underlying(etag.Tag{Opaque: forged}); ok {
				t.Errorf("%s: %s became %v", name, forged, u)
			}
		}
	}
}

// A digest of what a client sees and a member of few values that it does not see is guessed quickly.
func TestHiddenETagIsNotGuessedFromItsText(t *testing.T) {
	digest := func(pin int) string {
		sum := md5.Sum([]byte(`{"id":7,"pin":` + strconv.Itoa(pin) + `}`))
		return hex.EncodeToString(sum[:])
	}
	for _, weak := range []string{"", "W/"} {
		for _, long := range []string{"", strings.Repeat("-", 128)} {
			m := &etag.Maker{Plan: "p", Hide: true, Keys: keys(t, "a")}
			tag, ok := m.Derive(weak + `"` + digest(4711) + long + `"`)
			if !ok {
				t.Fatal("no tag")
			}
			raw, _ := base64.RawURLEncoding.DecodeString(tag.Opaque[strings.LastIndexByte(tag.Opaque, '.')+1:])
			// Those who guess know the plan, and have any keys but the gateway's.
			for _, other := range []*etag.Maker{{Plan: "p"}, {Plan: "p", Hide: true, Keys: keys(t, "b")}} {
				for pin := range 10000 {
					guess := digest(pin) + long
					if theirs, _ := other.Derive(weak + `"` + guess + `"`); theirs.Opaque == tag.Opaque || strings.Contains(string(raw), guess) {
						t.Fatalf("the PIN is %d, as %v shows", pin, tag)
					}
				}
				if u, ok := m.Underlying(etag.Tag{Weak: weak != "", Opaque: "u.p." + base64.RawURLEncoding.EncodeToString([]byte(digest(4711)))}); ok {
					t.Errorf("a guess would be sent to the upstream: %v", u)
				}
			}
		}
	}
	if tag, ok := (&etag.Maker{Plan: "p", Hide: true}).Derive(`"x"`); ok {
		t.Errorf("without keys: %v", tag)
	}
	for _, text := range []string{"u.p.eA", "s.p.eA"} {
		if u, ok := (&etag.Maker{Plan: "p", Hide: true}).Underlying(etag.Tag{Opaque: text}); ok {
			t.Errorf("without keys: %s became %v", text, u)
		}
	}
}

func TestChangedHiddenETagIsRefused(t *testing.T) {
	m := &etag.Maker{Plan: "p", Hide: true, Keys: keys(t, "a")}
	tag, _ := m.Derive(`"x"`)
	for i := range tag.Opaque {
		changed := []byte(tag.Opaque)
		changed[i] ^= 1
		if u, ok := m.Underlying(etag.Tag{Opaque: string(changed)}); ok {
			t.Errorf("%s became %v", changed, u)
		}
	}
	weak, _ := m.Derive(`W/"x"`)
	if u, ok := m.Underlying(etag.Tag{Opaque: strings.TrimPrefix(weak.Opaque, "w")}); ok {
		t.Errorf("a weak tag that was made strong became %v", u)
	}
}

// A change holds with a tag from before. A read does not: a 304 would name another tag than the client has.
func TestETagOfAnOlderSecretHoldsForChanges(t *testing.T) {
	before := &etag.Maker{Plan: "p", Hide: true, Keys: keys(t, "a")}
	now := &etag.Maker{Plan: "p", Hide: true, Keys: keys(t, "b", "a")}
	gone := &etag.Maker{Plan: "p", Hide: true, Keys: keys(t, "b")}
	for _, upstream := range []string{`"x"`, `W/"x"`, `"` + strings.Repeat("x", 200) + `"`} {
		old, _ := before.Derive(upstream)
		fresh, _ := now.Derive(upstream)
		if _, ok := now.Underlying(old); ok || old == fresh {
			t.Errorf("%s: %v is current", upstream, old)
		}
		for _, coding := range []string{"", "-gzip"} {
			list := etag.List{Tags: []etag.Tag{{Opaque: "b.other"}, {Weak: old.Weak, Opaque: old.Opaque + coding}, fresh}}
			if got := now.Renew(list).Tags; got[0] != list.Tags[0] || got[1] != fresh || got[2] != fresh {
				t.Errorf("%s%s: %v, want %v", upstream, coding, got, fresh)
			}
			if got := gone.Renew(list).Tags; got[1] != list.Tags[1] {
				t.Errorf("%s%s: without the older secret: %v", upstream, coding, got)
			}
		}
	}
	list := etag.List{Any: true}
	if got := now.Renew(list); !got.Any {
		t.Error("an asterisk is lost")
	}
}

func BenchmarkDerive(b *testing.B) {
	for name, m := range makers(b, "abcdefghijkl") {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if _, ok := m.Derive(`"d41d8cd98f00b204e9800998ecf8427e"`); !ok {
					b.Fatal("no tag")
				}
			}
		})
	}
}
