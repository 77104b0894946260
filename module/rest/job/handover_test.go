package job

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gatehouse/gatehouse/module/store"
)

// reloading is a store under a queue that a reload stops while a claim is being written. The claim takes effect.
type reloading struct {
	*shelf
	stop func()
}

func (r *reloading) Swap(ctx context.Context, record store.Record) (store.Record, error) {
	stored, err := r.shelf.Swap(ctx, record)
	if r.stop != nil {
		go r.stop()
		r.stop = nil
		time.Sleep(time.Second)
		if ctx.Err() != nil {
			return store.Record{}, ctx.Err()
		}
	}
	return stored, err
}

func TestJobClaimedDuringAReloadRuns(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, w := newShelf(), newWork(nil)
		r := &reloading{shelf: s}
		before := node(t, s, w, "a", func(c *QueueConfig) { c.Store = r })
		after := node(t, s, w, "a")
		r.stop = func() {
			before.Stop()
			after.Start()
		}
		before.Start()
		j := submit(t, before)
		time.Sleep(2 * lease)
		if got := find(t, after, j.ID); got.State != Succeeded || w.begun(j.ID) != 1 {
			t.Errorf("begun %d times, %s: %+v", w.begun(j.ID), got.State, got.Failure)
		}
		after.Stop()
	})
}
