package token

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/gatehouse/gatehouse/module/store"
)

func TestAFullRingTakesNoMoreKeys(t *testing.T) {
	s := &snapshot{}
	for range maxRingKeys {
		s.keys = append(s.keys, &ringKey{})
	}
	add := func() (ringRecord, error) { return newRingRecord(append(s.kept(time.Now()), storedKey{})) }
	if _, err := add(); err == nil {
		t.Error("one key more than the limit was taken")
	}
	s.keys[0] = &ringKey{storedKey: storedKey{Retires: time.Now()}}
	if next, err := add(); err != nil || len(next.Keys) != maxRingKeys {
		t.Errorf("a retired key must make room: %d, %v", len(next.Keys), err)
	}
}

func TestAWriteThatAlwaysLosesGivesUp(t *testing.T) {
	n := start(t, "ES256")
	n.ring.store = losing{n.store}
	if _, err := n.issuer.Issue(t.Context(), n.access()); err == nil || errors.Is(err, store.ErrExists) {
		t.Errorf("Issue = %v", err)
	}
}

// losing loses every race.
type losing struct{ store.Backend }

func (losing) Create(context.Context, store.Record) (store.Record, error) {
	return store.Record{}, store.ErrExists
}

func TestAHangingStoreDoesNotHoldTheCaller(t *testing.T) {
	n := start(t, "ES256")
	gate := make(chan struct{})
	n.ring.store = hanging{n.store, gate}
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
	defer cancel()
	if _, err := n.issuer.Issue(ctx, n.access()); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("Issue = %v", err)
	}
	close(gate)
	n.issue(t)
}

// hanging answers reads when the gate opens or the context ends.
type hanging struct {
	store.Backend
	gate chan struct{}
}

func (h hanging) Get(ctx context.Context, k store.Key) (store.Record, error) {
	select {
	case <-h.gate:
		return h.Backend.Get(ctx, k)
	case <-ctx.Done():
		return store.Record{}, ctx.Err()
	}
}

func TestNoKidIsTakenForAFlagOfACommand(t *testing.T) {
	for range 1000 {
		signer, public, err := newPair("EdDSA")
		if err != nil || signer == nil || strings.HasPrefix(public.Kid, "-") {
			t.Fatalf("%q %v", public.Kid, err)
		}
	}
}
