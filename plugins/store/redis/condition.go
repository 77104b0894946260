package redis

import (
	"context"
	"sync"
	"time"

	"go.uber.org/zap"

	"github.com/gatehouse/gatehouse/plugins/internal/redisconn"
)

const (
	// probePause is between two probes of a Redis that does not serve.
	probePause = 250 * time.Millisecond
	// probePatience is how many answers a probe may wait for: a new connection has several.
	probePatience = 5
	// probeLife is how long what a probe has written stays, in milliseconds.
	probeLife = 60_000
)

// condition is whether Redis serves, as the last calls have seen it.
type condition struct {
	mu      sync.Mutex
	away    error // no answer; any answer ends it
	refuses error // an answer that it cannot write; a write ends it
	probing bool
	pace    pace
}

// callTimeout is how long a call of so many round trips may take whose request has waited
// before, and what of that is ordinary.
func (c *condition) callTimeout(timeout time.Duration, trips int, waited time.Duration) (most, ordinary time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	ordinary = c.pace.ordinaryTime(timeout, trips)
	return allowedTime(timeout, ordinary, waited, c.away != nil), ordinary
}

// recordSuccess notes an answer and how long it took.
func (c *condition) recordSuccess(wrote bool, took time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.pace.recordTime(took, time.Now())
	c.away = nil
	if wrote {
		c.refuses = nil
	}
}

// recordFailure reports whether a probe must begin.
func (c *condition) recordFailure(err error, answered bool) (begin bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if answered {
		c.away, c.refuses = nil, err
	} else {
		c.away = err
	}
	begin, c.probing = !c.probing, true
	return begin
}

func (c *condition) lastFault() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.away != nil {
		return c.away
	}
	return c.refuses
}

// Health is nil, or what keeps the store from working as far as its last calls know. It waits for no server.
func (b *Backend) Health() error {
	if b.closing.Err() != nil {
		return errClosed
	}
	return b.condition.lastFault()
}

// probeUntilServed asks until Redis serves again, with all the patience that calls no longer have:
// without it a Redis that is slow, but not away, would be given up for good.
func (b *Backend) probeUntilServed(ctx context.Context) {
	defer func() {
		b.condition.mu.Lock()
		b.condition.probing = false
		b.condition.mu.Unlock()
	}()
	for b.condition.lastFault() != nil {
		if redisconn.Sleep(ctx, probePause) != nil {
			return
		}
		begin := time.Now()
		asking, cancel := context.WithTimeout(ctx, probePatience*b.timeout)
		_, err := scriptProbe.RunAndWait(asking, b.client, b.wait, []string{b.probeKey()}, probeLife)
		cancel()
		if err == nil {
			b.condition.recordSuccess(true, time.Since(begin))
			b.log.Info("Redis serves the store again")
		}
	}
}

func errorField(err error) zap.Field { return zap.String("error", err.Error()) }
