package lazy

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gatehouse/gatehouse/module/ratelimit"
)

// countedPlugin opens in-process limiters and counts that.
type countedPlugin struct {
	opened, closed atomic.Int64
	failure        error
}

func (p *countedPlugin) Identity() any { return p }

func (p *countedPlugin) Open(context.Context) (ratelimit.OpenSource, error) {
	p.opened.Add(1)
	if p.failure != nil {
		return nil, p.failure
	}
	s, err := ratelimit.NewMemory(ratelimit.MemoryConfig{})
	return countedSource{s, p}, err
}

type countedSource struct {
	*ratelimit.Memory
	of *countedPlugin
}

func (countedSource) Health() error { return nil }

func (s countedSource) Close() error { s.of.closed.Add(1); return nil }

func oneRequest(o ratelimit.Outage) ratelimit.Request {
	return ratelimit.Request{
		Charges:  []ratelimit.Charge{{Policy: &ratelimit.Policy{Name: "all", Limit: 2, Window: time.Hour}, Subject: "all"}},
		OnOutage: o,
	}
}

func TestLazyLimiterOpensOnceOnFirstUse(t *testing.T) {
	p := new(countedPlugin)
	l := NewLimiter(p)
	if err := l.Destruct(); err != nil || p.opened.Load() != 0 || p.closed.Load() != 0 {
		t.Error("one that was never used was opened or closed", err)
	}
	var admitted atomic.Int64
	var all sync.WaitGroup
	for range 50 {
		all.Go(func() {
			v, err := l.Decide(t.Context(), oneRequest(0))
			if err != nil {
				t.Error(err)
			}
			if v.Admitted {
				admitted.Add(1)
			}
		})
	}
	all.Wait()
	if p.opened.Load() != 1 || admitted.Load() != 2 {
		t.Errorf("opened %d times, %d admitted", p.opened.Load(), admitted.Load())
	}
	for range 2 {
		if err := l.Destruct(); err != nil {
			t.Error(err)
		}
	}
	if p.closed.Load() != 1 {
		t.Errorf("closed %d times", p.closed.Load())
	}
	if v, err := l.Decide(t.Context(), oneRequest(0)); err != nil || !v.Admitted || p.opened.Load() != 2 {
		t.Errorf("a late request: %v %v, opened %d times", v, err, p.opened.Load())
	}
}

// slowPlugin takes its time, so that all who come meanwhile want to open it as well.
type slowPlugin struct{ *countedPlugin }

func (p slowPlugin) Open(ctx context.Context) (ratelimit.OpenSource, error) {
	time.Sleep(50 * time.Millisecond)
	return p.countedPlugin.Open(ctx)
}

func TestRequestsDuringOpeningShareTheLimiter(t *testing.T) {
	p := slowPlugin{new(countedPlugin)}
	l := NewLimiter(p)
	var all sync.WaitGroup
	for range 20 {
		all.Go(func() {
			if err := l.Health(t.Context()); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	if p.opened.Load() != 1 {
		t.Errorf("opened %d times", p.opened.Load())
	}
}

func TestLimiterThatCannotOpenIsAnOutage(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		failure := errors.New("no such file")
		p := &countedPlugin{failure: failure}
		l := NewLimiter(p)
		for range 100 {
			if v, err := l.Decide(t.Context(), oneRequest(ratelimit.OutageOpen)); err != nil || !v.Admitted || !v.Outage {
				t.Fatalf("open: %v %v", v, err)
			}
			for _, o := range []ratelimit.Outage{ratelimit.OutageLocal, ratelimit.OutageClosed} {
				if _, err := l.Decide(t.Context(), oneRequest(o)); !errors.Is(err, failure) {
					t.Fatalf("%d: %v", o, err)
				}
			}
		}
		if err := l.Health(t.Context()); !errors.Is(err, failure) || p.opened.Load() != 1 {
			t.Errorf("%v, tried %d times in no time", err, p.opened.Load())
		}
		p.failure = nil
		time.Sleep(openRetry)
		if err := l.Health(t.Context()); err != nil {
			t.Error(err)
		}
	})
}
