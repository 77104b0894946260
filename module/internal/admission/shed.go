package admission

import (
	"context"
	"log/slog"
	"sync/atomic"
	"time"

	"github.com/gatehouse/gatehouse/module/internal/metrics"
)

const (
	// shedLogged is how often the log says that requests are refused.
	shedLogged = 10 * time.Second
	// maxHeld is how many refusals are held back at one time, and maxHold for how long.
	maxHeld = 10_000
	maxHold = 3 * time.Second
)

// Shedder refuses requests when the process has more than it can answer in time. There should be
// one for the process, because all configurations and sites share its processors.
type Shedder struct {
	gate     *gate
	cooldown *cooldown
	refused  [classes]metrics.Counter
	held     atomic.Int64
	log      *slog.Logger
	logged   atomic.Int64 // when, in nanoseconds since the epoch
}

// NewShedder makes one that admits everything until it has measured the load.
func NewShedder(log *slog.Logger) *Shedder {
	s := &Shedder{gate: processGate(), cooldown: newCooldown(), log: log}
	for i, class := range Classes {
		s.refused[i] = metrics.Set{}.Overload(class)
	}
	return s
}

// admit asks the gate, where the request may have to wait a little, and counts a refusal.
func (s *Shedder) admit(ctx context.Context, c Class) (retryAfter int, ok bool) {
	if s.gate.admit(c) {
		return 0, true
	}
	return s.wait(ctx, c)
}

func (s *Shedder) wait(ctx context.Context, c Class) (retryAfter int, ok bool) {
	if retryAfter, ok = s.gate.wait(ctx, c); ok {
		return 0, true
	}
	s.refused[c].Inc()
	// A line for each would be work of its own.
	if now, last := time.Now().UnixNano(), s.logged.Load(); now-last > int64(shedLogged) && s.logged.CompareAndSwap(last, now) {
		s.log.Warn("overloaded: requests are refused with 503, see the metric overload_refused_requests_total", "class", Classes[c])
	}
	return retryAfter, false
}

// AdmitToken admits a request with an access token, "" for none; known reports whether it was
// verified before. If not ok, the client may come again after retryAfter seconds.
func (s *Shedder) AdmitToken(ctx context.Context, raw string, known func(string) bool) (retryAfter int, ok bool) {
	if raw == "" {
		return s.admit(ctx, Anonymous)
	}
	if s.gate.admit(Client) {
		return 0, true
	}
	if known(raw) { // not asked before, since it takes a digest
		return s.admit(ctx, Known)
	}
	return s.wait(ctx, Client)
}

// AdmitOrHold admits a request on a connection, or returns after how many seconds the client may come again.
// connection is "" where requests of different clients share it.
//
// A client that comes again without waiting, over the connection on which it was refused, is told so only when it
// should have come: a loop without a pause would keep the processors busy with refusals.
func (s *Shedder) AdmitOrHold(ctx context.Context, c Class, connection string) (retryAfter int, ok bool) {
	if retryAfter, ok = s.admit(ctx, c); ok || connection == "" {
		return retryAfter, ok
	}
	if left := s.cooldown.take(connection); left > 0 {
		s.hold(ctx, min(left, maxHold))
	} else {
		s.cooldown.begin(connection, time.Duration(retryAfter)*time.Second)
	}
	return retryAfter, false
}

// hold waits, unless too many do.
func (s *Shedder) hold(ctx context.Context, wait time.Duration) {
	defer s.held.Add(-1)
	if s.held.Add(1) > maxHeld {
		return
	}
	timer := time.NewTimer(wait)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-ctx.Done():
	}
}
