package redis

import (
	"errors"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"time"
)

const (
	maxFlights = 2    // batches on their way at a time
	maxGroups  = 64   // in a batch
	maxKeys    = 128  // in a batch, as many as the spec can number
	maxQueue   = 4096 // requests that wait for a batch

	longestOwn = 50 * time.Millisecond // that a request waits whatever becomes of its caller
	warmFor    = time.Second           // a connection is taken to be there
)

var (
	errOpen     = errors.New("limiter redis: Redis does not answer in time")
	errOverflow = errors.New("limiter redis: too many requests wait for Redis")
	errClosed   = errors.New("limiter redis: closed")
)

// lane is the way of one limiter's requests to Redis: all its keys are in one slot, on
// one server. What arrives while a batch is on its way goes with the next one, so an idle lane
// adds no latency and a busy one few round trips, which are what a decision costs most for.
type lane struct {
	source  *Source
	limiter string
	opened  atomic.Bool // a copy of breaker.open, for those in a hurry

	mu      sync.Mutex
	queue   []*call // in the order of their arrival
	flights int
	aloft   []*flight // those of them whose batch has left
	watcher *time.Timer
	watched bool // the watcher will come
	breaker breaker
	cause   error     // of the last failure
	landed  time.Time // when a flight last came back in time
}

// flight is one round trip. Its fields are under the lane's lock.
type flight struct {
	sent   time.Time
	judged bool // by the breaker
	batch  *batch
}

// join puts a call at the end of the queue. If it gets a flight the caller makes that trip
// himself, and is back when his patience ends; see [lane.clear].
func (l *lane) join(c *call) (*flight, error) {
	now := l.source.clock()
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.breaker.open {
		return nil, errOpen
	}
	c.state, c.due = waiting, now.Add(l.source.patience)
	if l.clear(now) {
		l.flights++
		l.queue = append(l.queue, c)
		f := new(flight)
		l.load(f) // at once: another flight may last longer than this caller waits
		return f, nil
	}
	if len(l.queue) >= maxQueue {
		l.compact()
		if len(l.queue) >= maxQueue {
			return nil, errOverflow
		}
	}
	if l.worth(len(l.queue)+1, now) {
		if !l.source.start(l.fly) {
			return nil, errClosed
		}
		l.flights++
	}
	l.queue = append(l.queue, c)
	l.watch(l.source.patience)
	return nil, nil
}

// clear reports whether a trip is likely to be short: there is a connection, and nobody else.
// Then a goroutine for it would cost more than the rest of the decision. All other trips may last
// longer than a request waits, so that a connection can be made and outlives a hiccup.
func (l *lane) clear(now time.Time) bool {
	return l.flights == 0 && len(l.queue) == 0 && l.breaker.row == 0 &&
		l.source.patience <= longestOwn && now.Sub(l.landed) < warmFor
}

// worth reports whether so many that wait are worth a further flight. Beside another one they
// are if they fill a batch, or if that one takes long: its connection may be lost.
func (l *lane) worth(waiting int, now time.Time) bool {
	switch {
	case l.flights == 0:
		return true
	case l.flights >= maxFlights:
		return false
	}
	return waiting >= maxGroups || len(l.aloft) > 0 && now.Sub(l.aloft[0].sent) > l.source.patience/4
}

// leave gives a call up whose caller went away.
func (l *lane) leave(c *call) {
	l.mu.Lock()
	defer l.mu.Unlock()
	was := c.state
	if was == waiting || was == taken {
		c.state = given
	}
	if was == taken {
		l.judge(c.flight, l.source.clock())
	}
}

// fly takes batch after batch until nothing waits, or too little for two flights.
func (l *lane) fly() {
	for {
		l.gather()
		f := new(flight)
		b := l.next(f)
		if b == nil {
			return
		}
		l.trip(f, b, l.source.timeout)
	}
}

// flyOnce makes the trip of one caller, takes along who has come by the time it begins, and leaves
// what comes meanwhile to others.
func (l *lane) flyOnce(f *flight) {
	l.gather()
	l.trip(f, l.take(f), l.source.patience)
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.queue) > 0 && l.source.start(l.fly) {
		return
	}
	l.flights--
	if l.flights == 0 { // closed, or there is nobody
		l.dismiss(errClosed)
	}
}

// gather lets those who are about to join do so: requests that can run, run first. With nothing else
// to run it takes no time.
func (l *lane) gather() {
	for before, n := -1, l.waiting(); before < n && n < maxGroups; {
		runtime.Gosched()
		before, n = n, l.waiting()
	}
}

func (l *lane) waiting() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return len(l.queue)
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
			switch {
			case c.state == given: // settled by landing
			case err != nil:
				c.done <- outcome{err: err}
			default:
				c.done <- outcome{answer: &answers[i], nth: nth}
			}
		}
	}
}

// next is take unless the flight is one too many.
func (l *lane) next(f *flight) *batch {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.flights--
	if !l.worth(len(l.queue), l.source.clock()) {
		return nil
	}
	l.flights++
	return l.load(f)
}

// take makes a batch of the first that wait, or ends the flight if there are none.
func (l *lane) take(f *flight) *batch {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.load(f)
}

// load is take under the lock. A flight that has a batch gets more into it.
func (l *lane) load(f *flight) *batch {
	b := f.batch
	if b == nil {
		b = newBatch()
	}
	n := 0
	for _, c := range l.queue {
		if c.state == given {
			n++
			continue
		}
		g := b.like[c.vector]
		if g == nil {
			if len(b.groups) == maxGroups || !b.fits(c.ask) {
				break
			}
			g = &group{ask: c.ask}
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
	if f.batch == nil {
		f.batch = b
		l.aloft = append(l.aloft, f)
	}
	return b
}

// land ends a round trip: its calls are not given up any more, and the breaker hears how it
// went.
func (l *lane) land(f *flight, got time.Time, err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.aloft = slices.DeleteFunc(l.aloft, func(o *flight) bool { return o == f })
	if f.batch != nil {
		for _, g := range f.batch.groups {
			for _, c := range g.calls {
				if c.state == taken {
					c.state = answered
				}
			}
		}
	}
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
	l.dismiss(errOpen)
	l.source.start(l.probe)
}

// dismiss sends everybody in the queue away.
func (l *lane) dismiss(why error) {
	for _, c := range l.queue {
		if c.state == waiting {
			c.giveUp(why)
		}
	}
	clear(l.queue)
	l.queue = l.queue[:0]
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
