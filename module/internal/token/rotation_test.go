package token

import (
	"crypto/ed25519"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/gatehouse/gatehouse/module/store/storetest"
)

func reflectSeed(t *testing.T, p *private) []byte {
	t.Helper()
	key, ok := p.signer.(ed25519.PrivateKey)
	if !ok {
		t.Fatalf("a key of type %T", p.signer)
	}
	return key.Seed()
}

func TestTheSignerIsTheNewestKeyWhoseTimeHasCome(t *testing.T) {
	now := newClock().now()
	key := func(kid string, created, from, retires time.Duration) *ringKey {
		k := &ringKey{storedKey: storedKey{Kid: kid, Alg: "ES256", Created: now.Add(created)}}
		if from != 0 {
			k.SignsFrom = now.Add(from)
		}
		if retires != 0 {
			k.Retires = now.Add(retires)
		}
		return k
	}
	rsa := key("rsa", -time.Minute, 0, 0)
	rsa.Alg = "RS256"
	cases := []struct {
		name string
		keys []*ringKey
		want string
	}{
		{"none", nil, ""},
		{"only another algorithm", []*ringKey{rsa}, ""},
		{"the first at once", []*ringKey{key("a", -time.Hour, 0, 0), rsa}, "a"},
		{"the next is published only", []*ringKey{key("a", -time.Hour, 0, 0), key("b", 0, time.Minute, 0)}, "a"},
		{"the next has begun", []*ringKey{key("b", -time.Hour, -time.Minute, 0), key("a", -2*time.Hour, 0, time.Hour)}, "b"},
		{"the old one retired", []*ringKey{key("a", -time.Hour, 0, -time.Second), key("b", 0, time.Minute, 0)}, "b"},
		{"all retired", []*ringKey{key("a", -time.Hour, 0, -time.Second)}, ""},
		{"retires now", []*ringKey{{storedKey: storedKey{Kid: "a", Alg: "ES256", Retires: now}}}, ""},
		{"two future ones", []*ringKey{key("b", 0, time.Hour, 0), key("a", 0, time.Minute, 0)}, "a"},
		{"a tie goes to the newer", []*ringKey{key("b", -time.Minute, 0, 0), key("a", -time.Hour, 0, 0)}, "b"},
	}
	for _, c := range cases {
		slices.SortFunc(c.keys, byAge) // as they are when the ring is read
		got := ""
		if k := (&snapshot{keys: c.keys}).signer("ES256", now); k != nil {
			got = k.Kid
		}
		if got != c.want {
			t.Errorf("%s: %q signs, want %q", c.name, got, c.want)
		}
	}
}

// rotated is a ring with the key of n and a next one, which signs in five minutes.
func rotated(t *testing.T, n *node) {
	t.Helper()
	other := newNode(t, storetest.NewMemory(n.now), n.clock, "ES256")
	other.issue(t)
	var next storedKey
	putRing(t, other.store, func(r *ringRecord) { next = r.Keys[0] })
	next.SignsFrom = n.now().Add(5 * time.Minute)
	putRing(t, n.store, func(r *ringRecord) {
		r.Keys[0].Retires = n.now().Add(2 * time.Hour)
		r.Keys = append(r.Keys, next)
	})
}

func kids(t *testing.T, n *node) int {
	t.Helper()
	set, err := n.ring.PublicKeys(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return strings.Count(string(set.JSON), `"kid"`)
}

func TestARotationIsPublishedBeforeItSignsAndEndsWithTheLastToken(t *testing.T) { // M07
	n := start(t, "ES256")
	before := n.issue(t)
	rotated(t, n)
	n.move(ringAge)
	if kids(t, n) != 2 {
		t.Fatalf("%d keys are published, want the next one too", kids(t, n))
	}
	kidOf := func(raw string) string {
		h, err := parseHeader(raw[:strings.IndexByte(raw, '.')])
		if err != nil {
			t.Fatal(err)
		}
		return h.kid
	}
	if kidOf(n.issue(t)) != kidOf(before) {
		t.Error("the next key signed too early")
	}
	n.move(5 * time.Minute)
	after := n.issue(t)
	if kidOf(after) == kidOf(before) {
		t.Error("the next key does not sign")
	}
	for _, raw := range []string{before, after} {
		if _, err := n.verifier.Verify(t.Context(), raw); err != nil {
			t.Error(err)
		}
	}
	n.move(2 * time.Hour)
	if kids(t, n) != 1 {
		t.Errorf("%d keys are published after the old one retired", kids(t, n))
	}
}

func TestATokenOfARetiredOrRemovedKeyIsRefusedThoughItWasCached(t *testing.T) { // jwkset CVE-2025-22149
	for name, end := range map[string]func(*node, *ringRecord){
		"retired": func(n *node, r *ringRecord) { r.Keys[0].Retires = n.now() },
		"removed": func(_ *node, r *ringRecord) { r.Keys = nil },
	} {
		n := start(t, "ES256")
		raw := n.issue(t)
		if _, err := n.verifier.Verify(t.Context(), raw); err != nil {
			t.Fatal(err)
		}
		putRing(t, n.store, func(r *ringRecord) { end(n, r) })
		n.move(ringAge)
		if _, err := n.verifier.Verify(t.Context(), raw); !errors.Is(err, errKey) {
			t.Errorf("%s: Verify = %v", name, err)
		}
		n.issue(t)
	}
}
