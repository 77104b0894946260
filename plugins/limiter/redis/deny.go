package redis

import (
	"slices"
	"sync"
	"time"
)

const (
	// denyFor bounds how long a refusal is repeated: a flush or a failover may have made room.
	denyFor = time.Second
	// denyCap bounds the memory for refusals, at some 700 bytes each.
	denyCap = 20_000
)

// denials remembers what Redis has refused, until it may admit it. An ask that differs in
// anything, such as a limit that a reload has raised, finds nothing.
type denials struct {
	mu      sync.Mutex
	cap     int
	at      time.Time // of the last turn
	now     map[string]*denial
	earlier map[string]*denial
}

// denial is a refusal and how long it holds. Both times are on this process's monotonic clock.
type denial struct {
	answer answer
	until  time.Time // counted from when the batch was sent, so never too long
	got    time.Time // when the reply arrived: what a client is told to wait is never too short
}

func newDenials(limit int) *denials {
	return &denials{cap: max(2, limit), now: make(map[string]*denial)}
}

// put remembers the answer to an ask that was sent and whose reply arrived at these times.
func (d *denials) put(k *ask, a *answer, sent, got time.Time) {
	wait := a.refusedFor(k)
	if wait == 0 {
		return
	}
	if wait < 0 || wait > denyFor {
		wait = denyFor
	}
	until := sent.Add(wait - time.Millisecond) // the server's time was rounded down to one
	if !until.After(got) {
		return
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	// Two generations: what is in the earlier one when they turn has lapsed, or there are too many.
	if len(d.now) >= d.cap/2 || got.Sub(d.at) >= denyFor {
		d.earlier, d.now, d.at = d.now, make(map[string]*denial), got
	}
	e := &denial{answer: *a, until: until, got: got}
	e.answer.counts = slices.Clone(a.counts) // not those of a whole batch
	d.now[k.vector] = e
}

// get finds the refusal that an ask would meet again, or nil.
func (d *denials) get(k *ask, now time.Time) *denial {
	d.mu.Lock()
	defer d.mu.Unlock()
	e := d.now[k.vector]
	if e == nil {
		e = d.earlier[k.vector]
	}
	if e == nil || !now.Before(e.until) {
		return nil
	}
	return e
}
