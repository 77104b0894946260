package keyring

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/goleak"

	"github.com/gatehouse/gatehouse/module/internal/revocationlist"
	"github.com/gatehouse/gatehouse/module/internal/secret"
	"github.com/gatehouse/gatehouse/module/store"
	"github.com/gatehouse/gatehouse/module/store/storetest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

var errDown = errors.New("the store is down")

func newRing(t *testing.T) (*Ring, *storetest.Memory) {
	t.Helper()
	m := storetest.NewMemory(nil)
	return ringOf(t, m, "s"), m
}

// ringOf joins a store with a secret that is this letter, repeated.
func ringOf(t *testing.T, m *storetest.Memory, letter string) *Ring {
	t.Helper()
	keys, err1 := secret.NewKeys(bytes.Repeat([]byte(letter), 32))
	revocations, err2 := revocationlist.New(revocationlist.Config{Store: m, MaxTokenLife: func() time.Duration { return time.Hour }})
	r, err3 := New(Config{Store: m, Keys: func(context.Context) (*secret.Keys, error) { return keys, nil }, Revocations: revocations})
	if err := errors.Join(err1, err2, err3); err != nil {
		t.Fatal(err)
	}
	return r
}

func TestRepeatedlyConflictingWriteGivesUp(t *testing.T) {
	r, m := newRing(t)
	r.Store = losing{m}
	if _, err := r.Signer(t.Context(), "ES256"); err == nil || errors.Is(err, store.ErrExists) {
		t.Errorf("Signer = %v", err)
	}
}

// losing loses every race.
type losing struct{ store.Backend }

func (losing) Create(context.Context, store.Record) (store.Record, error) {
	return store.Record{}, store.ErrExists
}

func TestHangingStoreDoesNotBlockTheCaller(t *testing.T) {
	r, m := newRing(t)
	gate := make(chan struct{})
	r.Store = hanging{m, gate}
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
	defer cancel()
	if _, err := r.Signer(ctx, "ES256"); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("Signer = %v", err)
	}
	close(gate)
	if _, err := r.Signer(t.Context(), "ES256"); err != nil {
		t.Error(err)
	}
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

// Other nodes refuse what is signed with the former key long after a rotation.
func TestNodeCutOffFromTheStoreDoesNotSignWithAReplacedKey(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := storetest.NewMemory(time.Now)
		a, b := ringOf(t, m, "s"), ringOf(t, m, "s")
		way := &cut{Backend: m}
		a.Store = way
		before, err := a.Signer(t.Context(), "EdDSA")
		if err != nil {
			t.Fatal(err)
		}
		way.away = true
		if _, err := b.Rotate(t.Context(), "", WhyCommand); err != nil {
			t.Fatal(err)
		}
		time.Sleep(lead - time.Second)
		if k, err := a.Signer(t.Context(), "EdDSA"); err != nil || k.Kid != before.Kid {
			t.Errorf("before the next key signs: %v", err)
		}
		time.Sleep(time.Second)
		if _, err := a.Signer(t.Context(), "EdDSA"); err == nil {
			t.Error("a key signs that was replaced")
		}
		if _, err := a.PublicKeys(t.Context(), "EdDSA"); err != nil {
			t.Errorf("the published keys: %v", err)
		}
		way.away = false
		time.Sleep(seekPause)
		if k, err := a.Signer(t.Context(), "EdDSA"); err != nil || k.Kid == before.Kid {
			t.Errorf("when the store is back: %v", err)
		}
	})
}

// cut is the way to a store that a node may be cut off from.
type cut struct {
	store.Backend
	away bool
}

func (c *cut) Get(ctx context.Context, k store.Key) (store.Record, error) {
	if c.away {
		return store.Record{}, errDown
	}
	return c.Backend.Get(ctx, k)
}

func TestKeyIDNeverLooksLikeAFlag(t *testing.T) {
	for range 1000 {
		signer, public, err := newPair("EdDSA")
		if err != nil || signer == nil || strings.HasPrefix(public.Kid, "-") {
			t.Fatalf("%q %v", public.Kid, err)
		}
	}
}

func TestRingIsTendedUntilItsOwnerEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := storetest.NewMemory(time.Now)
		ring := ringOf(t, m, "s")
		ring.RotateEvery = func() time.Duration { return 30 * 24 * time.Hour }
		seen := make(map[string]bool)
		look := func() {
			k, err := ring.Signer(t.Context(), "EdDSA")
			if err != nil {
				t.Fatal(err)
			}
			seen[k.Kid] = true
		}
		look()
		ctx, stop := context.WithCancel(t.Context())
		done := make(chan error)
		go func() { done <- ring.Run(ctx) }()
		for range 95 {
			time.Sleep(24 * time.Hour)
			if len(seen) == 2 {
				m.Fail(errDown) // an outage is survived
			}
			time.Sleep(time.Minute)
			m.Fail(nil)
			look()
		}
		if len(seen) != 4 {
			t.Errorf("%d keys in 95 days, want 4", len(seen))
		}
		stop()
		if err := <-done; !errors.Is(err, context.Canceled) {
			t.Error(err)
		}
	})
}

func TestSignersNeedOpenableKeys(t *testing.T) {
	m := storetest.NewMemory(nil)
	own, other := ringOf(t, m, "s"), ringOf(t, m, "x")
	for _, r := range []*Ring{own, other} {
		if err := r.CheckSigners(t.Context()); !errors.Is(err, errUnread) {
			t.Errorf("before it was read: %v", err)
		}
		if _, err := r.List(t.Context()); err != nil {
			t.Fatal(err)
		}
		if err := r.CheckSigners(t.Context()); err != nil {
			t.Errorf("without a key: %v", err)
		}
	}
	if _, err := own.Signer(t.Context(), "ES256"); err != nil {
		t.Fatal(err)
	}
	if _, err := other.List(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := own.CheckSigners(t.Context()); err != nil {
		t.Error(err)
	}
	if err := other.CheckSigners(t.Context()); !errors.Is(err, secret.ErrForged) {
		t.Errorf("with another secret: %v", err)
	}
	m.Fail(errDown)
	if err := own.CheckSigners(t.Context()); err != nil {
		t.Errorf("it does not read the ring again: %v", err)
	}
}

func TestStoredKeysAreCheckedWithoutARing(t *testing.T) {
	m := storetest.NewMemory(nil)
	secretOf := func(letter string) []byte { return []byte(strings.Repeat(letter, 32)) }
	if err := CheckStored(t.Context(), m, secretOf("x")); err != nil {
		t.Errorf("without a key: %v", err)
	}
	if _, err := ringOf(t, m, "s").Signer(t.Context(), "ES256"); err != nil {
		t.Fatal(err)
	}
	if err := CheckStored(t.Context(), m, secretOf("x"), secretOf("s")); err != nil {
		t.Errorf("the old secret is the second one: %v", err)
	}
	if err := CheckStored(t.Context(), m, secretOf("x")); !errors.Is(err, secret.ErrForged) {
		t.Errorf("another secret: %v", err)
	}
	m.Fail(errDown)
	if err := CheckStored(t.Context(), m, secretOf("s")); !errors.Is(err, errDown) {
		t.Error(err)
	}
}

func TestKeyRingPrintsNoSecrets(t *testing.T) {
	r, _ := newRing(t)
	if fmt.Sprintf("%v %+v", r, struct{ R *Ring }{r}) != "keyring.Ring {R:keyring.Ring}" {
		t.Errorf("%v %+v", r, struct{ R *Ring }{r})
	}
}

func TestKeyRingNeedsStoreSecretsAndRevocations(t *testing.T) {
	r, _ := newRing(t)
	for _, c := range []Config{
		{Keys: r.Keys, Revocations: r.Revocations}, {Store: r.Store, Revocations: r.Revocations}, {Store: r.Store, Keys: r.Keys},
	} {
		if _, err := New(c); err == nil {
			t.Errorf("%+v was taken", c)
		}
	}
}

func TestKeyRevokedDuringSignerCheck(t *testing.T) {
	r, _ := newRing(t)
	if _, err := r.Signer(t.Context(), "ES256"); err != nil {
		t.Fatal(err)
	}
	s, asked, listing := *r.current.Load(), 0, 0
	s.revoked = func(string) bool {
		asked++
		return listing > 0 && asked > listing
	}
	s.algorithms(r.Now())
	listing, asked = asked, 0
	r.current.Store(&s)
	if err := r.CheckSigners(t.Context()); err != nil || asked <= listing {
		t.Errorf("CheckSigners = %v after %d questions", err, asked)
	}
}
