package redis

import "time"

// What one call may take, and all calls of one request, in parts of the timeout. With the usual 200 ms a request is
// told within 300 ms that the store is away, whatever it had to wait for before: an answer that came late and a call
// that gets none take 240 ms, and a question more, which settles what that one left open, 25 ms.
const (
	// hurry is what part is given to a Redis that did not answer the last time.
	hurry = 4
	// last is what part is left to each call of a request that has waited for all it may:
	// enough for a Redis that works, so that an outcome can be settled.
	last = 8
	// unnoticed is what part each call may take without its request having waited.
	unnoticed = 40
	// paceLasts is for how long, at least and for at most twice that, an answer says how quick Redis is.
	paceLasts = 2 * time.Second
)

// allowance is what the calls of a request may take together, beyond what is ordinary.
func allowance(timeout time.Duration) time.Duration { return timeout + timeout/5 }

// allowedTime is how long a call may take whose request has waited before. It must not fall
// below what is ordinary: a far Redis would answer no request with many calls.
func allowedTime(timeout, ordinary, waited time.Duration, away bool) time.Duration {
	most := timeout
	if away {
		most = timeout / hurry
	}
	return min(most, max(allowance(timeout)-waited, timeout/last, ordinary))
}

// pace is how quick Redis is of late: its quickest answer is the way there and back. From
// a far one each answer takes long, and nothing is wrong.
type pace struct {
	begun       time.Time
	now, before time.Duration // the quickest of this while and of the one before; 0: none
}

func (p *pace) recordTime(took time.Duration, at time.Time) {
	if at.Sub(p.begun) >= paceLasts {
		p.begun, p.before, p.now = at, p.now, 0
	}
	if p.now == 0 || took < p.now {
		p.now = took
	}
}

// ordinaryTime is what a call of so many round trips may take when nothing is wrong.
func (p *pace) ordinaryTime(timeout time.Duration, trips int) time.Duration {
	quickest := p.now
	if quickest == 0 || p.before > 0 && p.before < quickest {
		quickest = p.before
	}
	return min(max(timeout/unnoticed, 2*quickest)*time.Duration(trips), timeout/2)
}
