package lazy

import (
	"context"
	"time"

	"github.com/gatehouse/gatehouse/module/ratelimit"
)

// Limiter is a limiter that opens at first use, so that checking a configuration dials nothing,
// and opens again after a close. Opening waits for no server: while one is unreachable, the
// limiter itself decides on requests.
type Limiter struct {
	plugin ratelimit.Plugin
	open   Value[ratelimit.OpenSource]
}

// NewLimiter makes one that plugin opens.
func NewLimiter(plugin ratelimit.Plugin) *Limiter { return &Limiter{plugin: plugin} }

// Source is the open limiter itself, for its optional methods.
func (l *Limiter) Source(ctx context.Context) (ratelimit.OpenSource, error) {
	return l.open.Get(ctx, l.plugin.Open)
}

// Decide implements [ratelimit.Source]. If the limiter cannot be opened, its counts are
// unreachable, and it cannot count in this process instead.
func (l *Limiter) Decide(ctx context.Context, r ratelimit.Request) (ratelimit.Verdict, error) {
	s, err := l.Source(ctx)
	switch {
	case err == nil:
		return s.Decide(ctx, r)
	case r.OnOutage == ratelimit.OutageOpen:
		return ratelimit.Verdict{Admitted: true, At: time.Now(), Outage: true}, nil
	}
	return ratelimit.Verdict{}, err
}

// Health is nil, or what keeps the limiter from its counts.
func (l *Limiter) Health(ctx context.Context) error {
	s, err := l.Source(ctx)
	if err != nil {
		return err
	}
	return s.Health()
}

// Stats are those of a limiter in this process; ok is false for a remote one.
func (l *Limiter) Stats() (s ratelimit.Stats, ok bool) {
	open := l.open.open.Load()
	if open == nil {
		return s, false
	}
	m, ok := (*open).(interface{ Stats() ratelimit.Stats })
	if !ok {
		return s, false
	}
	return m.Stats(), true
}

// Destruct closes a limiter that no configuration and no request uses any more.
func (l *Limiter) Destruct() error { return l.open.drop(ratelimit.OpenSource.Close) }
