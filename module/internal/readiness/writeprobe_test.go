package readiness

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
)

var errFull = errors.New("no space left on device")

// N12
func TestProbeWritesAreRateLimited(t *testing.T) {
	for name, c := range map[string]struct {
		err     error
		suspect bool
		most    int64 // writes in a minute
	}{
		"that can be written":                  {nil, false, 7},
		"that is full":                         {errFull, false, 31},
		"with operations that fail all along":  {nil, true, 31},
		"that is full, and is asked for more ": {errFull, true, 31},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				p := newWriteProbe()
				var writes atomic.Int64
				write := func(context.Context) error { writes.Add(1); return c.err }
				var all sync.WaitGroup
				for range 100 {
					all.Go(func() {
						for range 600 { // a minute
							if err := p.ask(t.Context(), func() bool { return c.suspect }, write); !errors.Is(err, c.err) {
								t.Error(err)
							}
							time.Sleep(100 * time.Millisecond)
						}
					})
				}
				all.Wait()
				if n := writes.Load(); n < c.most-1 || n > c.most {
					t.Errorf("%d writes in a minute, want %d", n, c.most)
				}
			})
		})
	}
}

// N12: a write of a request that failed is looked into before the ten seconds are over.
func TestFailedOperationTriggersAWriteProbe(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newWriteProbe()
		var fault error
		var failed atomic.Bool
		suspect := func() bool { return failed.Swap(false) }
		ask := func() error {
			return p.ask(t.Context(), suspect, func(context.Context) error { return fault })
		}
		if err := ask(); err != nil {
			t.Error(err)
		}
		time.Sleep(writeAgain)
		fault = errFull
		if err := ask(); err != nil {
			t.Errorf("nothing has failed: %v", err)
		}
		failed.Store(true)
		if err := ask(); !errors.Is(err, errFull) {
			t.Errorf("%v", err)
		}
		fault = nil
		time.Sleep(writeAgain)
		if err := ask(); err != nil {
			t.Errorf("there is room again: %v", err)
		}
	})
}

// N12: a write that hangs keeps nobody waiting, runs alone, and has failed in the end.
func TestHangingProbeWriteCountsWhenItEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newWriteProbe()
		var writes atomic.Int64
		ask := func() error {
			return p.ask(t.Context(), func() bool { return true }, func(ctx context.Context) error {
				writes.Add(1)
				<-ctx.Done()
				return ctx.Err()
			})
		}
		begun := time.Now()
		for time.Since(begun) < writeTimeout {
			asked := time.Now()
			if err := ask(); err != nil && time.Since(begun) < writeTimeout {
				t.Errorf("a write that goes on has not failed: %v", err)
			}
			if took := time.Since(asked); took > writePatience {
				t.Errorf("it took %v", took)
			}
			time.Sleep(10 * time.Millisecond)
		}
		synctest.Wait()
		if err := ask(); !errors.Is(err, context.DeadlineExceeded) || writes.Load() > 2 {
			t.Errorf("%v after %d writes", err, writes.Load())
		}
		time.Sleep(2 * writeTimeout)
	})
}
