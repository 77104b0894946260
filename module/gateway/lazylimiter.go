package gateway

import (
	"context"
	"sync"
	"sync/atomic"
	"time"

	"github.com/gatehouse/gatehouse/module/ratelimit"
)

// lazyLimiter is a limiter that opens at its first use, so that checking a configuration
// dials nothing, and opens again after a close. Opening waits for no server; where that
// is away, the limiter itself knows what becomes of requests.
type lazyLimiter struct {
	plugin ratelimit.Plugin

	open atomic.Pointer[openLimiter] // read by every request

	mu       sync.Mutex
	failure  error
	failedAt time.Time
}

type openLimiter struct{ ratelimit.OpenSource }

func (l *lazyLimiter) source(ctx context.Context) (*openLimiter, error) {
	if s := l.open.Load(); s != nil {
		return s, nil
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if s := l.open.Load(); s != nil {
		return s, nil
	}
	if l.failure != nil && time.Since(l.failedAt) < openRetry {
		return nil, l.failure
	}
	// The source outlives the request that happens to be first.
	s, err := l.plugin.Open(context.WithoutCancel(ctx))
	l.failure, l.failedAt = err, time.Now()
	if err != nil {
		return nil, err
	}
	opened := &openLimiter{s}
	l.open.Store(opened)
	return opened, nil
}

// Decide implements [ratelimit.Source]. A limiter that cannot be opened is one whose
// counts are out of reach, without the means to count in this process meanwhile.
func (l *lazyLimiter) Decide(ctx context.Context, r ratelimit.Request) (ratelimit.Verdict, error) {
	s, err := l.source(ctx)
	switch {
	case err == nil:
		return s.Decide(ctx, r)
	case r.OnOutage == ratelimit.OutageOpen:
		return ratelimit.Verdict{Admitted: true, At: time.Now(), Outage: true}, nil
	}
	return ratelimit.Verdict{}, err
}

// Health is nil, or what keeps the limiter from its counts.
func (l *lazyLimiter) Health(ctx context.Context) error {
	s, err := l.source(ctx)
	if err != nil {
		return err
	}
	return s.Health()
}

// stats is what a limiter in this process holds; ok is false for one elsewhere.
func (l *lazyLimiter) stats() (s ratelimit.Stats, ok bool) {
	open := l.open.Load()
	if open == nil {
		return s, false
	}
	if m, ok := open.OpenSource.(interface{ Stats() ratelimit.Stats }); ok {
		return m.Stats(), true
	}
	return s, false
}

// Destruct closes a limiter that no configuration and no request uses any more.
func (l *lazyLimiter) Destruct() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	s := l.open.Swap(nil)
	if s == nil {
		return nil
	}
	return s.Close()
}
