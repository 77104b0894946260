package readiness

import (
	"context"
	"errors"
	"github.com/gatehouse/gatehouse/module/internal/pool"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
)

// held counts who holds what a probe needs.
type held struct{ now, most atomic.Int64 }

func (h *held) enter() (func(), error) {
	h.most.Store(max(h.most.Load(), h.now.Add(1)))
	return func() { h.now.Add(-1) }, nil
}

func TestConcurrentProbesShareOnePerSecond(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var looks atomic.Int64
		p := newProbe(func(context.Context) Result {
			looks.Add(1)
			time.Sleep(10 * time.Millisecond)
			return Result{}
		})
		var h held
		var all sync.WaitGroup
		for range 1000 {
			all.Go(func() {
				for range 100 { // 2 s
					if got := p.Ask(t.Context(), h.enter); got.Store != nil || got.Keys != nil {
						t.Error(got)
					}
					time.Sleep(20 * time.Millisecond)
				}
			})
		}
		all.Wait()
		if n := looks.Load(); n < 2 || n > 3 {
			t.Errorf("%d probes for 100,000 questions in two seconds", n)
		}
		if h.now.Load() != 0 || h.most.Load() != 1 {
			t.Errorf("%d hold on, at most %d did", h.now.Load(), h.most.Load())
		}
	})
}

func TestHangingStoreIsProbedOnceWithoutBlocking(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var looks atomic.Int64
		answer := make(chan struct{})
		p := newProbe(func(context.Context) Result {
			looks.Add(1)
			<-answer // whatever its context says
			return Result{}
		})
		var h held
		begun := time.Now()
		if got := p.Ask(t.Context(), h.enter); !errors.Is(got.Store, errNoAnswer) || time.Since(begun) != Timeout {
			t.Errorf("%v after %v", got, time.Since(begun))
		}
		time.Sleep(time.Minute)
		begun = time.Now()
		for range 1000 {
			if got := p.Ask(t.Context(), h.enter); !errors.Is(got.Store, errNoAnswer) {
				t.Error(got)
			}
		}
		if took := time.Since(begun); took > 0 || looks.Load() != 1 || h.now.Load() != 1 {
			t.Errorf("1000 questions took %v, %d probes, %d hold on", took, looks.Load(), h.now.Load())
		}
		close(answer)
		synctest.Wait()
		if got := p.Ask(t.Context(), h.enter); got.Store != nil || looks.Load() != 1 || h.now.Load() != 0 {
			t.Errorf("%v, %d probes, %d hold on", got, looks.Load(), h.now.Load())
		}
	})
}

func TestProbeSurvivesItsFirstCaller(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newProbe(func(ctx context.Context) Result {
			time.Sleep(100 * time.Millisecond)
			return Result{Store: ctx.Err()}
		})
		var h held
		ctx, cancel := context.WithTimeout(t.Context(), 10*time.Millisecond)
		defer cancel()
		if got := p.Ask(ctx, h.enter); !errors.Is(got.Store, context.DeadlineExceeded) {
			t.Error(got)
		}
		if got := p.Ask(t.Context(), h.enter); got.Store != nil {
			t.Errorf("the probe ended with its first asker: %v", got)
		}
	})
}

func TestProbeWithoutItsResourceIsNotRun(t *testing.T) {
	p := newProbe(func(context.Context) Result { panic("not to be called") })
	if got := p.Ask(t.Context(), func() (func(), error) { return nil, pool.ErrGone }); !errors.Is(got.Store, pool.ErrGone) || !errors.Is(got.Keys, pool.ErrGone) {
		t.Error(got)
	}
}
