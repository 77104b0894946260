package token

import (
	"context"
	"errors"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/gatehouse/gatehouse/module/store"
	"github.com/gatehouse/gatehouse/module/store/storetest"
)

// others is a token that shares nothing with that of node.access.
func others(t *testing.T, n *node) string {
	t.Helper()
	a := n.access()
	a.Subject, a.Client, a.Grant = "bob", "other", "other"
	raw, err := n.issuer.Issue(t.Context(), a)
	if err != nil {
		t.Fatal(err)
	}
	return raw
}

func TestARevokedTokenIsRefusedOnEveryNode(t *testing.T) { // G02, G24
	for _, of := range []store.RevocationOf{
		store.RevokeGrant, store.RevokeToken, store.RevokeSubject, store.RevokeClient, store.RevokeKey,
	} {
		t.Run(string(of), func(t *testing.T) {
			one := start(t, "ES256")
			two := newNode(t, one.store, one.clock, "ES256")
			two.follow(t)
			raw, other := one.issue(t), others(t, one)
			a, err := two.verifier.Verify(t.Context(), raw)
			if err != nil {
				t.Fatal(err)
			}
			value := map[store.RevocationOf]string{
				store.RevokeGrant: a.Grant, store.RevokeToken: a.ID, store.RevokeSubject: a.Subject,
				store.RevokeClient: a.Client, store.RevokeKey: a.KeyID,
			}[of]
			for range 2 { // revoking twice is no error
				if err := one.revocations.Revoke(t.Context(), store.Revocation{Of: of, Value: value}); err != nil {
					t.Fatal(err)
				}
			}
			if _, err := one.verifier.Verify(t.Context(), raw); !errors.Is(err, errRevoked) {
				t.Errorf("on the node that revoked: %v", err)
			}
			began := time.Now()
			eventually(t, func() bool {
				_, err := two.verifier.Verify(t.Context(), raw)
				return errors.Is(err, errRevoked)
			})
			if took := time.Since(began); took > time.Second {
				t.Errorf("another node needed %v", took)
			}
			fresh := newNode(t, one.store, one.clock, "ES256")
			fresh.follow(t)
			if _, err := fresh.verifier.Verify(t.Context(), raw); !errors.Is(err, errRevoked) {
				t.Errorf("a node that starts later: %v", err)
			}
			if _, err := one.verifier.Verify(t.Context(), other); (err == nil) != (of != store.RevokeKey) {
				t.Errorf("a token that has nothing to do with it: %v", err)
			}
		})
	}
}

func TestARevocationOfAUserConcernsTokensUntilItsSecond(t *testing.T) {
	for _, of := range []store.RevocationOf{store.RevokeSubject, store.RevokeClient} {
		n := start(t, "ES256")
		value := map[store.RevocationOf]string{store.RevokeSubject: "alice", store.RevokeClient: "shop"}[of]
		n.move(300 * time.Millisecond)
		before := n.issue(t)
		n.move(300 * time.Millisecond)
		if err := n.revocations.Revoke(t.Context(), store.Revocation{Of: of, Value: value}); err != nil {
			t.Fatal(err)
		}
		n.move(300 * time.Millisecond)
		same := n.issue(t)
		n.move(time.Second)
		after := n.issue(t)
		for raw, want := range map[string]error{before: errRevoked, same: errRevoked, after: nil} {
			if _, err := n.verifier.Verify(t.Context(), raw); !errors.Is(err, want) {
				t.Errorf("%s: %v, want %v", of, err, want)
			}
		}
		if err := n.revocations.Revoke(t.Context(), store.Revocation{Of: of, Value: value}); err != nil {
			t.Fatal(err)
		}
		fresh := newNode(t, n.store, n.clock, "ES256")
		fresh.follow(t)
		if _, err := fresh.verifier.Verify(t.Context(), after); !errors.Is(err, errRevoked) {
			t.Errorf("%s: the second revocation must be stored beside the first: %v", of, err)
		}
	}
}

func TestWithoutALoadedFeedNothingIsAdmitted(t *testing.T) { // G37
	c := newClock()
	n := newNode(t, storetest.NewMemory(c.now), c, "ES256")
	raw := n.issue(t)
	if _, err := n.verifier.Verify(t.Context(), raw); !errors.Is(err, errNotLoaded) || errors.Is(err, ErrInvalid) {
		t.Errorf("Verify = %v", err)
	}
	if _, err := n.verifier.Verify(t.Context(), "garbage"); !errors.Is(err, ErrInvalid) {
		t.Errorf("garbage is garbage all the same: %v", err)
	}
	n.follow(t)
	if _, err := n.verifier.Verify(t.Context(), raw); err != nil {
		t.Error(err)
	}
}

func TestARevocationThatIsNotStoredIsNotInForce(t *testing.T) {
	n := start(t, "ES256")
	raw := n.issue(t)
	rv := store.Revocation{Of: store.RevokeGrant, Value: "family"}
	n.store.LoseReply(errDown)
	if err := n.revocations.Revoke(t.Context(), rv); !errors.Is(err, errDown) {
		t.Errorf("Revoke = %v", err)
	}
	eventually(t, func() bool { // it was stored after all, and the feed says so
		_, err := n.verifier.Verify(t.Context(), raw)
		return errors.Is(err, errRevoked)
	})
	n.store.Fail(errDown)
	if err := n.revocations.Revoke(t.Context(), store.Revocation{Of: store.RevokeSubject, Value: "bob"}); !errors.Is(err, errDown) {
		t.Errorf("Revoke = %v", err)
	}
	if revoked, _ := n.revocations.Check(&Access{Subject: "bob", IssuedAt: n.now()}); revoked {
		t.Error("in force here but nowhere else, and gone with a restart")
	}
}

func TestNonsenseCannotBeRevoked(t *testing.T) {
	n := start(t, "ES256")
	for _, rv := range []store.Revocation{
		{}, {Of: store.RevokeToken}, {Value: "x"}, {Of: "everything", Value: "x"},
		{Of: store.RevokeToken, Value: strings.Repeat("x", maxRevokedValue+1)},
	} {
		if err := n.revocations.Revoke(t.Context(), rv); err == nil {
			t.Errorf("%q %.10q was revoked", rv.Of, rv.Value)
		}
	}
	if n.store.Len() != 0 {
		t.Error("it was stored")
	}
	if err := n.revocations.Revoke(t.Context(), store.Revocation{Of: store.RevokeToken, Value: strings.Repeat("x", maxRevokedValue)}); err != nil {
		t.Error(err)
	}
}

func TestARevocationIsKeptAsLongAsATokenItConcernsCanLive(t *testing.T) {
	n := start(t, "ES256")
	for _, of := range []store.RevocationOf{store.RevokeGrant, store.RevokeKey} {
		if err := n.revocations.Revoke(t.Context(), store.Revocation{Of: of, Value: "x"}); err != nil {
			t.Fatal(err)
		}
	}
	n.move(time.Hour + Leeway)
	if n.store.Len() != 2 {
		t.Error("forgotten too early")
	}
	n.move(2 * Leeway)
	if n.store.Len() != 1 {
		t.Error("want only the key's: forgeries under it can have any expiry")
	}
}

func TestTheSetForgetsWhatExpiredAndIsBounded(t *testing.T) {
	now := newClock().now()
	began := now
	s := newRevocationSet(100, func() time.Duration { return now.Sub(began) })
	grant := func(i int, life time.Duration) bool {
		return s.add(store.Revocation{Of: store.RevokeGrant, Value: strconv.Itoa(i), At: now}, now.Add(life), now)
	}
	for i := range 100 {
		if !grant(i, time.Minute+time.Duration(i%2)*time.Hour) {
			t.Fatalf("number %d found no room", i)
		}
	}
	if grant(100, time.Hour) {
		t.Error("one more than the limit was taken")
	}
	for i := range 100 {
		now = now.Add(time.Second)
		if i%2 == 0 && !grant(0, time.Hour) {
			t.Error("what is held already needs no room")
		}
	}
	if len(s.expired) > 100 {
		t.Errorf("%d items in the heap: prolonging one must not grow it", len(s.expired))
	}
	for i := 100; i < 149; i++ {
		if !grant(i, time.Hour) {
			t.Errorf("number %d found no room though half have expired", i)
		}
	}
	if grant(149, time.Hour) {
		t.Error("the prolonged one was forgotten")
	}
	if !s.revokes(&Access{Grant: "0"}) || s.revokes(&Access{Grant: "2"}) || !s.revokes(&Access{Grant: "1"}) {
		t.Error("the wrong ones were forgotten")
	}
	now = now.Add(24 * time.Hour)
	if s.prune(1 << 20); s.size != 0 || len(s.expired) != 0 || len(s.of[store.RevokeGrant]) != 0 {
		t.Errorf("%d are held a day later", s.size)
	}
}

// N17: a clock that was set forward for a moment, such as one that took local time for UTC,
// makes no revoked token valid again when it is right.
func TestAClockThatJumpsForwardAndBackBringsNoRevokedTokenToLife(t *testing.T) {
	n := start(t, "ES256")
	n.revocations.set.elapsed = func() time.Duration { return 0 } // the jump takes no time
	raw := n.issue(t)
	a, err := n.verifier.Verify(t.Context(), raw)
	if err != nil {
		t.Fatal(err)
	}
	revoke := func(id string) {
		t.Helper()
		if err := n.revocations.Revoke(t.Context(), store.Revocation{Of: store.RevokeToken, Value: id}); err != nil {
			t.Fatal(err)
		}
	}
	revoke(a.ID)
	n.move(12 * time.Hour)
	revoke("another")
	n.move(-12 * time.Hour)
	if _, err := n.verifier.Verify(t.Context(), raw); !errors.Is(err, errRevoked) {
		t.Errorf("N17 %v", err)
	}
}

func TestAtTheLimitNothingIsAdmittedUntilEnoughHaveExpired(t *testing.T) {
	c := newClock()
	n := newNode(t, storetest.NewMemory(c.now), c, "ES256")
	n.revocations.set.limit = 2
	n.follow(t)
	raw := n.issue(t)
	for i, want := range []error{nil, nil, errFull} {
		if err := n.revocations.Revoke(t.Context(), store.Revocation{Of: store.RevokeToken, Value: strconv.Itoa(i)}); !errors.Is(err, want) {
			t.Fatalf("number %d: %v", i, err)
		}
	}
	if _, err := n.verifier.Verify(t.Context(), raw); !errors.Is(err, errFull) || errors.Is(err, ErrInvalid) {
		t.Errorf("Verify = %v", err)
	}
	n.move(2 * time.Hour)
	eventually(t, func() bool {
		_, err := n.verifier.Verify(context.Background(), n.issue(t))
		return err == nil
	})
}
