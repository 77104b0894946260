package token

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gatehouse/gatehouse/module/internal/secret"
	"github.com/gatehouse/gatehouse/module/store/storetest"
)

func TestStalenessCountsFromTheLossOfTheFeed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := storetest.NewMemory(nil)
		m.Fail(errDown)
		r, _, stop, done := fed(t, m)
		want := func(since time.Duration, known bool) {
			t.Helper()
			if got, ok := r.Staleness(); got != since || ok != known {
				t.Errorf("%v %v, want %v %v", got, ok, since, known)
			}
		}
		want(0, false)
		m.Fail(nil)
		time.Sleep(maxPause)
		synctest.Wait()
		want(0, true)
		time.Sleep(time.Hour)
		want(0, true)
		m.Fail(errDown)
		synctest.Wait()
		time.Sleep(7 * time.Second)
		want(7*time.Second, true)
		m.Fail(nil)
		time.Sleep(maxPause)
		synctest.Wait()
		want(0, true)
		stop()
		<-done
	})
}

func TestARingIsUsableWhenItsKeysCanBeOpened(t *testing.T) {
	m := storetest.NewMemory(nil)
	ring := func(word string) *Ring {
		t.Helper()
		keys, err := secret.NewKeys([]byte(word))
		if err != nil {
			t.Fatal(err)
		}
		r, err := NewRing(RingConfig{Store: m, Keys: func(context.Context) (*secret.Keys, error) { return keys, nil }})
		if err != nil {
			t.Fatal(err)
		}
		return r
	}
	own, other := ring("the secret of this node, 0123456789"), ring("the secret of another node, 0123456")
	for _, r := range []*Ring{own, other} {
		if err := r.Usable(t.Context()); !errors.Is(err, errUnread) {
			t.Errorf("before it was read: %v", err)
		}
		if _, err := r.List(t.Context()); err != nil {
			t.Fatal(err)
		}
		if err := r.Usable(t.Context()); err != nil {
			t.Errorf("without a key: %v", err)
		}
	}
	if _, _, err := own.signer(t.Context(), "ES256"); err != nil {
		t.Fatal(err)
	}
	if _, err := other.List(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := own.Usable(t.Context()); err != nil {
		t.Error(err)
	}
	if err := other.Usable(t.Context()); !errors.Is(err, secret.ErrForged) {
		t.Errorf("with another secret: %v", err)
	}
	m.Fail(errDown)
	if err := own.Usable(t.Context()); err != nil {
		t.Errorf("it does not read the ring again: %v", err)
	}
}
