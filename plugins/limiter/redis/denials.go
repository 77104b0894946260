package redis

import (
	"slices"
	"sync"
	"time"
)

const (
	// maxDenial bounds how long a refusal is repeated: a flush or a failover may have reset counts.
	maxDenial = time.Second
	// maxDenials bounds the memory for refusals, at some 700 bytes each.
	maxDenials = 20_000
)

// denials remembers what Redis has refused until it may admit it. A request that differs in
// anything, such as a limit that a reload has raised, finds nothing.
type denials struct {
	mu      sync.Mutex
	cap     int
	turned  time.Time // when earlier was replaced last
	current map[string]*denial
	earlier map[string]*denial
}

// denial is a refusal and how long it is valid. Both times are on this process's monotonic clock.
type denial struct {
	answer answer
	until  time.Time // counted from the sending of the batch, so never too late
	got    time.Time // when the reply arrived: Retry-After is counted from it and never too short
}

func newDenials(limit int) *denials {
	return &denials{cap: max(2, limit), current: make(map[string]*denial)}
}

// remember stores the answer to a request, if it is a refusal; sent and got are the times of
// the batch and of its reply.
func (d *denials) remember(k *encodedRequest, a *answer, sent, got time.Time) {
	wait := a.refusedFor(k)
	if wait == 0 {
		return
	}
	if wait < 0 || wait > maxDenial {
		wait = maxDenial
	}
	until := sent.Add(wait - time.Millisecond) // the server's time was rounded down to a millisecond
	if !until.After(got) {
		return
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	// Two generations: what the earlier one holds has expired when it is dropped, or there is too much.
	if len(d.current) >= d.cap/2 || got.Sub(d.turned) >= maxDenial {
		d.earlier, d.current, d.turned = d.current, make(map[string]*denial), got
	}
	e := &denial{answer: *a, until: until, got: got}
	e.answer.counts = slices.Clone(a.counts) // not the slice of the whole batch
	d.current[k.vector] = e
}

// find returns the refusal that a request would meet again, or nil.
func (d *denials) find(k *encodedRequest, now time.Time) *denial {
	d.mu.Lock()
	defer d.mu.Unlock()
	e := d.current[k.vector]
	if e == nil {
		e = d.earlier[k.vector]
	}
	if e == nil || !now.Before(e.until) {
		return nil
	}
	return e
}
