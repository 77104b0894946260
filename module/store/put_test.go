package store_test

import (
	"errors"
	"testing"

	"github.com/gatehouse/gatehouse/module/store"
	"github.com/gatehouse/gatehouse/module/store/storetest"
)

func TestWhoWasNotFirstIsToldToReadAgain(t *testing.T) {
	ctx, b := t.Context(), storetest.NewMemory(nil)
	key := store.Key{Kind: store.KindClient, ID: "a"}
	put := func(version uint64, want bool) {
		t.Helper()
		if got, err := store.Put(ctx, b, store.Record{Key: key, Value: []byte("x"), Version: version}); got != want || err != nil {
			t.Errorf("Put with version %d = %t, %v, want %t", version, got, err, want)
		}
	}
	put(7, false) // there is none
	put(0, true)
	put(0, false) // there is one
	r, err := b.Get(ctx, key)
	if err != nil {
		t.Fatal(err)
	}
	put(r.Version, true)
	put(r.Version, false) // it is another
	away := errors.New("away")
	b.Fail(away)
	if got, err := store.Put(ctx, b, store.Record{Key: key}); got || !errors.Is(err, away) {
		t.Errorf("a fault: %t, %v", got, err)
	}
}
