package token

import (
	"errors"
	"slices"
	"testing"
	"time"

	"github.com/gatehouse/gatehouse/module/internal/keyring"
	"github.com/gatehouse/gatehouse/module/store"
	"github.com/gatehouse/gatehouse/module/store/storetest"
)

func TestRevokedKeyIsInvalidAndItsSuccessorSignsAtOnce(t *testing.T) {
	c := newClock()
	m := storetest.NewMemory(c.now)
	one, two := newNode(t, m, c, "ES256"), newNode(t, m, c, "ES256")
	one.follow(t)
	two.follow(t)
	raw, id := one.issue(t), one.issueID(t, "ES256")
	kid := kidOf(t, raw)
	if _, err := two.verifier.Verify(t.Context(), raw); err != nil {
		t.Fatal(err)
	}
	two.published(t)
	list, err := one.ring.Revoke(t.Context(), kid)
	if err != nil || len(list) != 1 || list[0].Kid == kid || list[0].State != keyring.KeySigns {
		t.Fatalf("Revoke = %+v, %v", list, err)
	}
	began := time.Now()
	eventually(t, func() bool { _, err := two.verifier.Verify(t.Context(), raw); return errors.Is(err, ErrInvalid) })
	if took := time.Since(began); took > time.Second {
		t.Errorf("it took %v", took)
	}
	for _, n := range []*node{one, two} {
		if got := kidOf(t, n.issue(t)); got != list[0].Kid {
			t.Errorf("signed with %s, want the successor", got)
		}
		if keys := n.published(t); len(keys) != 1 || keys[kid].Kid != "" {
			t.Errorf("published: %v", keys)
		}
		if _, err := n.issuer.ReadHint(t.Context(), id); !errors.Is(err, errKey) {
			t.Errorf("ReadHint = %v", err)
		}
	}
	if again, err := two.ring.Revoke(t.Context(), kid); err != nil || len(again) != 1 {
		t.Errorf("the second time: %v, %v", again, err)
	}
	if _, err := one.ring.Revoke(t.Context(), "unknown"); !errors.Is(err, keyring.ErrUnknownKey) {
		t.Errorf("an unknown key: %v", err)
	}
	want := []keyring.Change{
		{Kid: kid, Alg: "ES256", Why: keyring.WhyFirst}, {Kid: list[0].Kid, Alg: "ES256", Why: keyring.WhyCommand},
		{Kid: kid, Alg: "ES256", Why: keyring.WhyCommand, Revoked: true},
	}
	got := slices.Concat(one.changes, two.changes)
	if !slices.Equal(got, want) {
		t.Errorf("told of %+v, want %+v", got, want)
	}
}

func TestInterruptedKeyRevocationIsFinishedBySigning(t *testing.T) {
	c := newClock()
	m := storetest.NewMemory(c.now)
	one, two := newNode(t, m, c, "ES256"), newNode(t, m, c, "ES256")
	one.follow(t)
	two.follow(t)
	kid := kidOf(t, two.issue(t))
	if err := one.revocations.Revoke(t.Context(), store.Revocation{Of: store.RevokeKey, Value: kid}); err != nil {
		t.Fatal(err)
	}
	eventually(t, func() bool { return two.revocations.KeyRevoked(kid) })
	if keys := two.published(t); len(keys) != 0 {
		t.Errorf("published: %v", keys)
	}
	next := kidOf(t, two.issue(t))
	if next == kid {
		t.Fatal("a revoked key signs")
	}
	c.move(seekPause)
	if got := kidOf(t, one.issue(t)); got != next {
		t.Errorf("the nodes sign with %s and %s", got, next)
	}
	if states := one.states(t); len(states) != 1 {
		t.Errorf("the ring holds %v", states)
	}
}

func TestKeyCanBeRevokedInEachState(t *testing.T) {
	for _, which := range []keyring.KeyState{keyring.KeyNext, keyring.KeySigns, keyring.KeyVerifies} {
		t.Run(string(which), func(t *testing.T) {
			n := start(t, "ES256")
			n.issue(t)
			n.rotate(t, "")
			if which == keyring.KeyVerifies {
				n.move(lead + time.Second)
			}
			kid := ""
			for k, state := range n.states(t) {
				if state == which {
					kid = k
				}
			}
			list, err := n.ring.Revoke(t.Context(), kid)
			if err != nil || len(list) != 1 || list[0].State != keyring.KeySigns || !list[0].Retires.IsZero() || list[0].Kid == kid {
				t.Fatalf("Revoke = %+v, %v", list, err)
			}
			if got := kidOf(t, n.issue(t)); got != list[0].Kid {
				t.Errorf("%s signs", got)
			}
			// And on it goes.
			n.rotate(t, "")
			n.move(lead)
			if got := kidOf(t, n.issue(t)); got == list[0].Kid || got == kid {
				t.Errorf("%s signs after the next rotation", got)
			}
		})
	}
}

func TestRevokedKeysSuccessorIsNotARetiredKey(t *testing.T) {
	n := start(t, "ES256")
	first := kidOf(t, n.issue(t))
	n.rotate(t, "")
	n.move(lead)
	second := kidOf(t, n.issue(t))
	list, err := n.ring.Revoke(t.Context(), second)
	if err != nil || len(list) != 2 {
		t.Fatalf("Revoke = %+v, %v", list, err)
	}
	if got := kidOf(t, n.issue(t)); got == first || got == second {
		t.Errorf("%s signs, whose tokens would outlive it", got)
	}
	if states := n.states(t); states[first] != keyring.KeyVerifies {
		t.Errorf("the ring holds %v", states)
	}
}

func TestRevokedKeyInTheRecordIsCheckedOnceASecond(t *testing.T) {
	n := start(t, "ES256")
	raw := n.issue(t)
	n.issueID(t, "EdDSA")
	c := &counting{Backend: n.store}
	n.ring.Store = c
	kid := kidOf(t, raw)
	if err := n.revocations.Revoke(t.Context(), store.Revocation{Of: store.RevokeKey, Value: kid}); err != nil {
		t.Fatal(err)
	}
	for range 100 {
		refused(t, n, raw)
	}
	if c.reads() != 1 {
		t.Errorf("%d reads, want 1", c.reads())
	}
	n.move(seekPause)
	refused(t, n, raw)
	if c.reads() != 2 {
		t.Errorf("%d reads a second later, want 2", c.reads())
	}
	if err := n.ring.Tend(t.Context()); err != nil {
		t.Fatal(err)
	}
	before := c.reads()
	for range 3 {
		n.move(seekPause)
		refused(t, n, raw)
	}
	if c.reads() != before {
		t.Error("a clean ring is read again")
	}
}
