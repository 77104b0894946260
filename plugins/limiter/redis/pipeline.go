package redis

import (
	"context"
	"errors"
	"slices"
	"sync"
	"sync/atomic"
	"time"
)

const (
	maxInFlight = 2    // batches
	maxGroups   = 64   // in a batch
	maxKeys     = 128  // in a batch, as many as the spec can number
	maxQueue    = 4096 // calls that wait for a batch

	maxOwnWait     = 50 * time.Millisecond // up to this maxWait a call waits even if its caller goes away
	warmConnection = time.Second           // a connection counts as established for so long after an answer
)

var (
	errTimeout  = errors.New("limiter redis: Redis does not answer in time")
	errOverflow = errors.New("limiter redis: too many requests wait for Redis")
)

// pipeline sends the calls of one place to Redis in batches. All keys of a place are in
// one slot, on one server. What arrives while a batch is in flight goes with the next one:
// an idle pipeline adds no latency, and a busy one needs few round trips, which are the
// largest part of the cost of a decision.
type pipeline struct {
	conn    *conn
	denials *denials    // nil: none
	leases  *leases     // nil: none
	head    string      // of its keys
	opened  atomic.Bool // a copy of breaker.open that needs no lock

	mu         sync.Mutex
	queue      []*call  // in the order of their arrival
	senders    int      // goroutines and callers that send batches, at most maxInFlight
	inFlight   []*batch // sent and not answered, the oldest first
	timer      *time.Timer
	timerSet   bool
	breaker    breaker
	lastError  error
	lastAnswer time.Time // when the last answer came in time
}

// decide has Redis decide on a call, and waits for the answer at most maxWait. The call may
// be released only if there is no error.
func (p *pipeline) decide(ctx context.Context, c *call) outcome {
	own, err := p.enqueue(c)
	if err != nil {
		return outcome{err: err}
	}
	if own != nil {
		p.sendOwnBatch(own)
	}
	if p.conn.maxWait <= maxOwnWait { // watching ctx would cost more than waiting in vain
		return <-c.done
	}
	select {
	case out := <-c.done:
		return out
	case <-ctx.Done():
		p.abandonCall(c)
		return outcome{err: ctx.Err()}
	}
}

// enqueue puts a call at the end of the queue. If it returns a batch, the caller sends it
// itself, and is back after maxWait; see callerMaySend.
func (p *pipeline) enqueue(c *call) (own *batch, err error) {
	now := p.conn.clock()
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.breaker.open {
		return nil, errTimeout
	}
	c.state, c.due = callWaiting, now.Add(p.conn.maxWait)
	if p.callerMaySend(now) {
		p.senders++
		p.queue = append(p.queue, c)
		own = newBatch()
		p.fillBatch(own) // at once: a batch of another sender may take longer than this caller waits
		return own, nil
	}
	if len(p.queue) >= maxQueue {
		p.queue = slices.DeleteFunc(p.queue, func(c *call) bool { return c.state == callAbandoned })
		if len(p.queue) >= maxQueue {
			return nil, errOverflow
		}
	}
	if p.needsSender(len(p.queue)+1, now) {
		if !p.conn.spawn(p.sendBatches) {
			return nil, errClosed
		}
		p.senders++
	}
	p.queue = append(p.queue, c)
	p.setTimer(p.conn.maxWait)
	return nil, nil
}

// callerMaySend reports whether a round trip is likely to be short: there is a connection,
// and nobody else uses it. Then a goroutine would cost more than the rest of the decision.
// All other round trips may take longer than a request waits, so that there is time to
// connect, and so that a connection survives a short pause of Redis.
func (p *pipeline) callerMaySend(now time.Time) bool {
	return p.senders == 0 && len(p.queue) == 0 && p.breaker.failuresInRow == 0 &&
		p.conn.maxWait <= maxOwnWait && now.Sub(p.lastAnswer) < warmConnection
}

// needsSender reports whether so many waiting calls need one more sender. Beside another one
// they do if they fill a batch, or if the other's batch takes long: its connection may be lost.
func (p *pipeline) needsSender(waiting int, now time.Time) bool {
	switch {
	case p.senders == 0:
		return true
	case p.senders >= maxInFlight:
		return false
	}
	return waiting >= maxGroups || len(p.inFlight) > 0 && now.Sub(p.inFlight[0].sent) > p.conn.maxWait/4
}

// abandonCall gives up a call whose caller went away.
func (p *pipeline) abandonCall(c *call) {
	p.mu.Lock()
	defer p.mu.Unlock()
	before := c.state
	if before == callWaiting || before == callSent {
		c.state = callAbandoned
	}
	if before == callSent {
		p.countIfLate(c.batch, p.conn.clock())
	}
}

// fillBatch moves calls from the front of the queue into a batch, which may have some
// already. If the batch remains empty, its sender ends.
func (p *pipeline) fillBatch(b *batch) (filled bool) {
	n := 0
	for _, c := range p.queue {
		if c.state == callAbandoned {
			n++
			continue
		}
		g := b.byVector[c.vector]
		if g == nil {
			if len(b.groups) == maxGroups || !b.hasRoomFor(c.encodedRequest) {
				break
			}
			g = &group{encodedRequest: c.encodedRequest}
			if c.lease > 0 && p.breaker.failuresInRow == 0 { // what a lost answer granted would count for a window
				g.lease = p.leases.reserve(c.encodedRequest, c.lease)
			}
			b.addGroup(g)
		}
		g.n++
		g.calls = append(g.calls, c)
		for _, u := range c.undone {
			b.giveBack(u)
		}
		c.state, c.batch = callSent, b
		n++
	}
	p.queue = slices.Delete(p.queue, 0, n)
	if len(b.groups) == 0 {
		p.senders--
		return false
	}
	if b.sent.IsZero() {
		p.inFlight = append(p.inFlight, b)
	}
	b.sent = p.conn.clock()
	return true
}

// settleBatch ends the round trip of a batch: its calls cannot be abandoned any more, and
// the breaker counts the result.
func (p *pipeline) settleBatch(b *batch, got time.Time, err error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.inFlight = slices.DeleteFunc(p.inFlight, func(o *batch) bool { return o == b })
	for _, g := range b.groups {
		for _, c := range g.calls {
			if c.state == callSent {
				c.state = callAnswered
			}
		}
	}
	switch {
	case b.countedLate:
		if err != nil {
			p.lastError = err
		}
	case err != nil:
		p.countFailure(err)
	case got.Sub(b.sent) > p.conn.maxWait:
		p.countFailure(errTimeout)
	default:
		p.breaker.countSuccess(got)
		p.lastAnswer = got
	}
}

// countIfLate tells the breaker of a batch that has been in flight for too long. That is a
// failure of Redis, which shows here long before the connection reports it.
func (p *pipeline) countIfLate(b *batch, now time.Time) {
	if !b.countedLate && now.Sub(b.sent) >= p.conn.maxWait {
		b.countedLate = true
		p.countFailure(errTimeout)
	}
}

// countFailure counts a failure. If that opens the breaker, all waiting calls fail at once
// and the health check starts.
func (p *pipeline) countFailure(err error) {
	p.lastError = err
	if !p.breaker.countFailure(p.conn.clock()) {
		return
	}
	p.opened.Store(true)
	p.failQueue(errTimeout)
	p.conn.spawn(p.checkHealth)
}

// failQueue fails all waiting calls.
func (p *pipeline) failQueue(why error) {
	for _, c := range p.queue {
		if c.state == callWaiting {
			c.giveUp(why)
		}
	}
	clear(p.queue)
	p.queue = p.queue[:0]
}

// isIdle reports whether the pipeline can be forgotten.
func (p *pipeline) isIdle() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.senders == 0 && len(p.queue) == 0 && !p.breaker.open
}

// outageError is the last error while the breaker is open, and otherwise nil.
func (p *pipeline) outageError() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.breaker.open {
		return p.lastError
	}
	return nil
}
