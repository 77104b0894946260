package fairshare

import (
	"sync"
	"time"
)

// Rate admits a number of units in any window of time, and half as many in reserve. It remembers at
// most as many entries as units, and is safe for concurrent use.
type Rate struct {
	window time.Duration
	now    func() time.Time
	start  time.Time

	mu    sync.Mutex
	share share
	log   []taken // the oldest first
}

type taken struct {
	at       time.Duration // since start
	source   Source
	units    int
	reserved bool
}

// NewRate returns a rate of limit units, but at least one, per window.
func NewRate(limit int, window time.Duration, now func() time.Time) *Rate {
	return &Rate{window: window, now: now, start: now(), share: share{limit: max(limit, 1)}}
}

// Take counts n units (at least 1), or returns when it is worth trying again. Refused units are not
// counted.
func (r *Rate) Take(s Source, n int) (ok bool, retry time.Duration) {
	n = max(n, 1)
	r.mu.Lock()
	defer r.mu.Unlock()
	now := r.now().Sub(r.start)
	r.expireUnits(now)
	ok, reserved := r.share.takeUnits(s, n)
	switch {
	case ok:
		r.log = append(r.log, taken{now, s, n, reserved})
		return true, 0
	case len(r.log) == 0:
		return false, r.window
	}
	return false, r.log[0].at + r.window - now
}

func (r *Rate) expireUnits(now time.Duration) {
	gone := 0
	for gone < len(r.log) && r.log[gone].at+r.window <= now {
		t := r.log[gone]
		r.share.giveBack(t.source, t.units, t.reserved)
		gone++
	}
	r.log = r.log[gone:]
}
