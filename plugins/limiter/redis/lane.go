package redis

import (
	"errors"
	"sync"
	"sync/atomic"
	"time"
)

const (
	maxFlights = 2    // batches on their way at a time: one is being decided on, one travels
	maxGroups  = 64   // in a batch
	maxKeys    = 128  // in a batch, as many as the spec can number
	maxQueue   = 4096 // requests that wait for a batch

	longestOwn = 50 * time.Millisecond // that a request makes a trip itself; its context may end meanwhile
	warmFor    = time.Second           // a connection is taken to be there
)

var (
	errOpen     = errors.New("limiter redis: Redis does not answer in time")
	errOverflow = errors.New("limiter redis: too many requests wait for Redis")
	errClosed   = errors.New("limiter redis: closed")
)

// lane is the way of one limiter's requests to Redis: all its keys are in one slot, on
// one server. What arrives while batches are on their way goes with the next one, so an idle lane
// adds no latency and a busy one few round trips.
type lane struct {
	source  *Source
	limiter string
	opened  atomic.Bool // a copy of breaker.open, for those in a hurry

	mu      sync.Mutex
	queue   []*call // in the order of their arrival
	flights int
	breaker breaker
	cause   error     // of the last failure
	landed  time.Time // when a flight last came back in time
}

// flight is one round trip. Its fields are under the lane's lock.
type flight struct {
	sent   time.Time
	judged bool   // by the breaker
	own    *batch // of a caller who makes the trip himself
}

// join puts a call at the end of the queue. If it gets a flight the caller makes that trip
// himself, and is back when his patience ends; see [lane.clear].
func (l *lane) join(c *call) (*flight, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.breaker.open {
		return nil, errOpen
	}
	if l.clear() {
		l.flights++
		l.queue = append(l.queue, c)
		f := new(flight)
		f.own = l.load(f) // at once: another flight may last longer than this caller waits
		return f, nil
	}
	if len(l.queue) >= maxQueue {
		l.compact()
		if len(l.queue) >= maxQueue {
			return nil, errOverflow
		}
	}
	if l.flights < maxFlights {
		if !l.source.start(l.fly) {
			return nil, errClosed
		}
		l.flights++
	}
	l.queue = append(l.queue, c)
	return nil, nil
}

// clear reports whether a trip is likely to be short: there is a connection, and nobody else.
// Then a goroutine for it would cost more than the rest of the decision. All other trips may last
// longer than a request waits, so that a connection can be made and outlives a hiccup.
func (l *lane) clear() bool {
	return l.flights == 0 && len(l.queue) == 0 && l.breaker.row == 0 &&
		l.source.patience <= longestOwn && l.source.clock().Sub(l.landed) < warmFor
}

// leave gives a call up. If its batch is on its way for too long, that is a failure of
// Redis, which shows here long before the connection says so.
func (l *lane) leave(c *call) {
	l.mu.Lock()
	defer l.mu.Unlock()
	was := c.state
	c.state = given
	if was != taken { // the breaker may have been quicker
		return
	}
	if !c.flight.judged && l.source.clock().Sub(c.flight.sent) >= l.source.patience {
		c.flight.judged = true
		l.failed(errOpen)
	}
}

// fly takes batch after batch until nothing waits.
func (l *lane) fly() {
	for {
		f := new(flight)
		b := l.take(f)
		if b == nil {
			return
		}
		l.trip(f, b, l.source.timeout)
	}
}

// flyOnce makes the trip of one caller and leaves what has come meanwhile to others.
func (l *lane) flyOnce(f *flight) {
	l.trip(f, f.own, l.source.patience)
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.queue) == 0 || !l.source.start(l.fly) {
		l.flights--
	}
}

// trip has a batch decided on and tells everybody in it.
func (l *lane) trip(f *flight, b *batch, within time.Duration) {
	answers, err := l.source.run(b, within)
	got := l.source.clock()
	l.land(f, got, err)
	for i, g := range b.groups {
		if err == nil && l.source.denials != nil {
			l.source.denials.put(g.ask, &answers[i], f.sent, got)
		}
		for nth, c := range g.calls {
			if err != nil {
				c.done <- outcome{err: err}
			} else {
				c.done <- outcome{answer: &answers[i], nth: nth}
			}
		}
	}
}

// take makes a batch of the first that wait, or ends the flight if there are none.
func (l *lane) take(f *flight) *batch {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.load(f)
}

// load is take under the lock.
func (l *lane) load(f *flight) *batch {
	b := &batch{known: make(map[string]int)}
	like := make(map[string]*group)
	n := 0
	for _, c := range l.queue {
		if c.state == given {
			n++
			continue
		}
		g := like[c.vector]
		if g == nil {
			if len(b.groups) == maxGroups || !b.fits(c.ask) {
				break
			}
			g = &group{ask: c.ask}
			like[c.vector] = g
			b.add(g)
		}
		g.n++
		g.calls = append(g.calls, c)
		c.state, c.flight = taken, f
		n++
	}
	rest := copy(l.queue, l.queue[n:])
	clear(l.queue[rest:])
	l.queue = l.queue[:rest]
	if len(b.groups) == 0 {
		l.flights--
		return nil
	}
	f.sent = l.source.clock()
	return b
}

// land tells the breaker how a round trip ended.
func (l *lane) land(f *flight, got time.Time, err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	switch {
	case f.judged:
		if err != nil {
			l.cause = err
		}
	case err != nil:
		l.failed(err)
	case got.Sub(f.sent) > l.source.patience:
		l.failed(errOpen)
	default:
		l.breaker.succeed(got)
		l.landed = got
	}
}

// failed counts a failure. When that opens the breaker, nobody waits any longer.
func (l *lane) failed(err error) {
	l.cause = err
	if !l.breaker.fail(l.source.clock()) {
		return
	}
	l.opened.Store(true)
	for _, c := range l.queue {
		if c.state == waiting {
			c.state = given
			c.done <- outcome{err: errOpen}
		}
	}
	clear(l.queue)
	l.queue = l.queue[:0]
	l.source.start(l.probe)
}

// compact removes those who gave up from the queue.
func (l *lane) compact() {
	kept := l.queue[:0]
	for _, c := range l.queue {
		if c.state != given {
			kept = append(kept, c)
		}
	}
	clear(l.queue[len(kept):])
	l.queue = kept
}

// idle reports whether nothing would be lost with the lane.
func (l *lane) idle() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.flights == 0 && len(l.queue) == 0 && !l.breaker.open
}

// fault is what keeps the lane from the counts.
func (l *lane) fault() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.breaker.open {
		return l.cause
	}
	return nil
}
