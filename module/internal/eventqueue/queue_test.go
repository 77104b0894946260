package eventqueue

import (
	"context"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/caddyserver/caddy/v2"
	"go.uber.org/zap"

	"github.com/gatehouse/gatehouse/module/internal/metrics"
)

// counted is a counter that tests can read.
type counted struct {
	mu sync.Mutex
	n  int
}

func (c *counted) Inc() { c.mu.Lock(); c.n++; c.mu.Unlock() }

func (c *counted) count() int { c.mu.Lock(); defer c.mu.Unlock(); return c.n }

var _ metrics.Counter = (*counted)(nil)

func newTestQueue(emit func(caddy.Context, string, map[string]any)) (*Queue, *counted) {
	dropped := new(counted)
	q := newQueue(func() bool { return true }, dropped, zap.NewNop())
	q.emit, q.heard = emit, func() bool { return true }
	return q, dropped
}

func TestEventQueueIsAsyncAndLimited(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		release := make(chan struct{})
		handled := 0
		q, dropped := newTestQueue(func(caddy.Context, string, map[string]any) { <-release; handled++ })
		ctx, cancel := context.WithCancel(t.Context())
		go q.run(ctx)
		const sent = 3 * maxWaiting
		for range sent {
			q.Put(caddy.Context{}, "a", nil)
			synctest.Wait()
		}
		if n := dropped.count(); n != sent-maxWaiting-1 { // one is with the handler
			t.Errorf("%d counted as dropped", n)
		}
		close(release)
		synctest.Wait()
		if handled != maxWaiting+1 {
			t.Errorf("%d handled", handled)
		}
		cancel()
		synctest.Wait()
	})
}

func TestEventHandlerPanicDoesNotStopTheQueue(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var got []string
		q, _ := newTestQueue(func(_ caddy.Context, name string, _ map[string]any) {
			got = append(got, name)
			panic("on purpose")
		})
		ctx, cancel := context.WithCancel(t.Context())
		go q.run(ctx)
		q.Put(caddy.Context{}, "a", nil)
		q.Put(caddy.Context{}, "b", nil)
		synctest.Wait()
		if !slices.Equal(got, []string{"a", "b"}) {
			t.Errorf("%v", got)
		}
		cancel()
		synctest.Wait()
	})
}

func TestEventsAreEmittedOnlyWhileTheConfigRuns(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		emitted := new(counted)
		q, dropped := newTestQueue(func(caddy.Context, string, map[string]any) { emitted.Inc() })
		var running atomic.Bool
		q.active = running.Load
		ctx, cancel := context.WithCancel(t.Context())
		go q.run(ctx)
		q.Put(caddy.Context{}, "a", nil)
		time.Sleep(time.Second)
		if emitted.count() != 0 {
			t.Error("emitted before the configuration runs")
		}
		running.Store(true)
		time.Sleep(2 * activePause)
		if emitted.count() != 1 {
			t.Error("what waited was not emitted")
		}
		cancel()
		synctest.Wait()
		q.Put(caddy.Context{}, "b", nil)
		if emitted.count() != 1 || dropped.count() != 1 {
			t.Errorf("%d emitted, %d dropped", emitted.count(), dropped.count())
		}
	})
}

func TestUnstartedConfigLeavesNoGoroutine(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		q, dropped := newTestQueue(func(caddy.Context, string, map[string]any) { t.Error("emitted") })
		q.active = func() bool { return false }
		ctx, cancel := context.WithCancel(t.Context())
		go q.run(ctx)
		q.Put(caddy.Context{}, "a", nil)
		time.Sleep(time.Second)
		cancel()
		synctest.Wait() // the test fails when a goroutine is left
		if dropped.count() != 1 {
			t.Errorf("%d counted as dropped", dropped.count())
		}
	})
}

func TestEventsWithoutListenersAreNotEmitted(t *testing.T) {
	var none *Queue
	if none.Wanted() {
		t.Error("without the events app somebody may listen")
	}
	none.Start()
	none.Put(caddy.Context{}, "a", nil)
	synctest.Test(t, func(t *testing.T) {
		q, dropped := newTestQueue(func(caddy.Context, string, map[string]any) { t.Error("emitted") })
		var running atomic.Bool
		q.active, q.heard = running.Load, func() bool { return false }
		go q.run(t.Context())
		q.Put(caddy.Context{}, "a", nil)
		if !q.Wanted() {
			t.Error("nobody can know yet that nobody listens")
		}
		running.Store(true)
		time.Sleep(2 * activePause)
		synctest.Wait() // the queue has ended: the test fails when a goroutine is left
		q.Put(caddy.Context{}, "b", nil)
		if q.Wanted() || dropped.count() != 0 {
			t.Errorf("wanted: %v, %d counted as dropped", q.Wanted(), dropped.count())
		}
	})
}
