package revocationlist

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/gatehouse/gatehouse/module/internal/jose"
	"github.com/gatehouse/gatehouse/module/store"
	"github.com/gatehouse/gatehouse/module/store/storetest"
)

// A revocation that is repeated, because the first attempt went no further than the notice, lasts as long as what was
// issued in between: on the node that repeats it, on one that follows, on one that reloads, and on one that starts later.
func TestRepeatedRevocationIsExtendedOnEveryNode(t *testing.T) {
	for of, token := range map[store.RevocationOf]Token{
		store.RevokeGrant: {Grant: "x"}, store.RevokeToken: {ID: "x"}, store.RevokeSubject: {Subject: "x"},
		store.RevokePair: {Client: "c", Subject: "s"}, store.RevokeClient: {Client: "x"}, store.RevokeKey: {KeyID: "x"},
	} {
		t.Run(string(of), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				m := storetest.NewMemory(nil)
				one, _, stopOne, oneDone := fed(t, m)
				two, _, stopTwo, twoDone := fed(t, m)
				rv := store.Revocation{Of: of, Value: "x"}
				if of == store.RevokePair {
					rv.Value, rv.Epoch = store.PairID("c", "s"), 7
				}
				if err := one.Revoke(t.Context(), rv); err != nil {
					t.Fatal(err)
				}
				time.Sleep(50 * time.Minute)
				token.IssuedAt = time.Now()
				if err := one.Revoke(t.Context(), rv); err != nil {
					t.Fatal(err)
				}
				synctest.Wait()
				three, _, stopThree, threeDone := fed(t, m)
				time.Sleep(5 * time.Minute)
				m.Fail(errDown) // all load again
				synctest.Wait()
				m.Fail(nil)
				time.Sleep(54*time.Minute + 50*time.Second)
				synctest.Wait()
				late, _, stopLate, lateDone := fed(t, m)
				for name, l := range map[string]*List{"that repeated it": one, "that followed": two, "that started later": three, "that starts now": late} {
					l.mu.Lock()
					l.set.prune(pruneStep)
					l.mu.Unlock()
					if revoked, err := l.Revoked(token); !revoked || err != nil {
						t.Errorf("on the node %s: %t, %v", name, revoked, err)
					}
				}
				for _, stop := range []func(){stopOne, stopTwo, stopThree, stopLate} {
					stop()
				}
				for _, done := range []chan error{oneDone, twoDone, threeDone, lateDone} {
					<-done
				}
			})
		})
	}
}

func TestRepeatedRevocationsAddFewNotices(t *testing.T) {
	n := newNode(t)
	for range 600 { // ten minutes
		if err := n.Revoke(t.Context(), store.Revocation{Of: store.RevokeGrant, Value: "x"}); err != nil {
			t.Fatal(err)
		}
		n.move(time.Second)
	}
	if stored := n.store.Len(); stored > 12 {
		t.Errorf("%d notices of one grant in ten minutes", stored)
	}
	if n.set.size != 1 {
		t.Errorf("%d are held", n.set.size)
	}
}

// A repetition whose second notice is not certain is not acknowledged.
func TestUnstoredRepeatedRevocationIsAnError(t *testing.T) {
	n := newNode(t)
	rv := store.Revocation{Of: store.RevokeGrant, Value: "x"}
	if err := n.Revoke(t.Context(), rv); err != nil {
		t.Fatal(err)
	}
	n.move(30 * time.Minute)
	n.store.LoseReply(errDown) // of the only write
	if err := n.Revoke(t.Context(), rv); err == nil {
		t.Error("it was acknowledged")
	}
	if err := n.Revoke(t.Context(), rv); err != nil {
		t.Error(err)
	}
	n.move(time.Hour + jose.Leeway)
	if n.store.Len() != 1 {
		t.Errorf("%d notices live", n.store.Len())
	}
}
