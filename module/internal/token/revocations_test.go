package token

import (
	"errors"
	"strconv"
	"testing"
	"time"

	"github.com/gatehouse/gatehouse/module/internal/revocationlist"
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

func TestRevokedTokenIsRefusedOnEveryNode(t *testing.T) { // G02, G24
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

func TestUserRevocationCoversTokensUpToItsSecond(t *testing.T) {
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

func TestNothingIsAdmittedBeforeTheFeedIsLoaded(t *testing.T) { // G37
	c := newClock()
	n := newNode(t, storetest.NewMemory(c.now), c, "ES256")
	raw := n.issue(t)
	if _, err := n.verifier.Verify(t.Context(), raw); err == nil || errors.Is(err, ErrInvalid) {
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

func TestUnstoredRevocationIsNotInForce(t *testing.T) {
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
	if revoked, _ := n.revocations.Revoked(revocationlist.Token{Subject: "bob", IssuedAt: n.now()}); revoked {
		t.Error("in force here but nowhere else, and gone with a restart")
	}
}

func TestRevocationLimitAffectsOlderTokensOnly(t *testing.T) {
	c := newClock()
	n := newNode(t, storetest.NewMemory(c.now), c, "ES256")
	list, err1 := revocationlist.New(revocationlist.Config{Store: n.store, MaxTokenLife: hour, Now: c.now, Limit: 2})
	verifier, err2 := NewVerifier(VerifierConfig{Ring: n.ring, Revocations: list, Now: c.now})
	if err := errors.Join(err1, err2); err != nil {
		t.Fatal(err)
	}
	n.revocations, n.verifier = list, verifier
	n.follow(t)
	old := n.issue(t)
	for i := range 20 {
		if err := n.revocations.Revoke(t.Context(), store.Revocation{Of: store.RevokeToken, Value: strconv.Itoa(i), Client: n.access().Client}); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := n.verifier.Verify(t.Context(), old); !errors.Is(err, errRevoked) {
		t.Errorf("a token from before what was folded: %v", err)
	}
	if _, err := n.verifier.Verify(t.Context(), others(t, n)); err != nil {
		t.Errorf("a token of another client: %v", err)
	}
	n.move(2 * time.Minute)
	if _, err := n.verifier.Verify(t.Context(), n.issue(t)); err != nil {
		t.Errorf("a token that is issued later: %v", err)
	}
}
