package token

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/gatehouse/gatehouse/module/store/storetest"
)

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

func TestKeyIsPublishedBeforeSigningAndKeptForItsTokens(t *testing.T) { // M07
	n := start(t, "ES256")
	before := n.issue(t)
	rotated(t, n)
	n.move(ringAge)
	if kids(t, n) != 2 {
		t.Fatalf("%d keys are published, want the next one too", kids(t, n))
	}
	if kidOf(t, n.issue(t)) != kidOf(t, before) {
		t.Error("the next key signed too early")
	}
	n.move(5 * time.Minute)
	after := n.issue(t)
	if kidOf(t, after) == kidOf(t, before) {
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

func TestCachedTokenOfARetiredKeyIsRefused(t *testing.T) { // jwkset CVE-2025-22149
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
