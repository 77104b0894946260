package core

import (
	"bytes"
	"errors"
	"log/slog"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gatehouse/gatehouse/module/internal/ending"
	"github.com/gatehouse/gatehouse/module/internal/lazy"
	"github.com/gatehouse/gatehouse/module/store"
	"github.com/gatehouse/gatehouse/module/store/storetest"
)

// Redis loses writes in a failover, and all since a dump when that is restored. Nodes still refuse a user whose end is
// lost, and must not refuse who signs in afterwards.
func TestCounterOfEpochsIsRaisedAfterLostWrites(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		memory := storetest.NewMemory(nil)
		core, err := New(lazy.NewStore(source{memory}), [][]byte{bytes.Repeat([]byte("s"), 32)}, Key{}, func(string) *slog.Logger { return slog.New(slog.DiscardHandler) })
		if err != nil {
			t.Fatal(err)
		}
		if err := core.Warm(t.Context()); err != nil {
			t.Fatal(err)
		}
		defer func() { _ = core.Destruct() }()
		want := func(epoch int64) {
			t.Helper()
			time.Sleep(5 * time.Second)
			if got, err := ending.CurrentEpoch(t.Context(), memory); got != epoch || err != nil {
				t.Errorf("the counter is %d, %v, expected %d", got, err, epoch)
			}
		}
		// The counter that gave the epoch out is lost.
		if err := core.Revocations.Revoke(t.Context(), store.Revocation{Of: store.RevokeSubject, Value: "u", Epoch: 77}); err != nil {
			t.Fatal(err)
		}
		memory.Fail(errors.New("away"))
		time.Sleep(time.Second)
		memory.Fail(nil)
		want(77)
		if _, err := ending.RaiseCounter(t.Context(), memory, 99); err != nil {
			t.Fatal(err)
		}
		memory.Fail(errors.New("away"))
		time.Sleep(time.Second)
		memory.Fail(nil)
		want(99) // it is never lowered
		// In a cluster, the server that has the counter may lose it alone.
		if err := memory.Delete(t.Context(), store.EpochCounterKey()); err != nil {
			t.Fatal(err)
		}
		want(77)
	})
}
