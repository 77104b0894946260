package redis

import "time"

const (
	failuresInARow = 5           // that open the breaker
	period         = time.Second // in which half of the round trips fail, or every one
	fewest         = 10          // round trips that a half says something about
)

// breaker judges whether Redis is worth waiting for. It is a pure state machine; the zero
// value is closed.
type breaker struct {
	open   bool
	row    int       // failures since the last success
	first  time.Time // of them
	since  time.Time // begin of the period
	calls  int       // in the period
	failed int
}

// fail counts a round trip that failed or took too long, and reports whether the breaker
// opened just now.
func (b *breaker) fail(now time.Time) bool {
	if b.open {
		return false
	}
	b.count(now)
	b.failed++
	if b.row == 0 {
		b.first = now
	}
	b.row++
	b.open = b.row >= failuresInARow ||
		b.row > 1 && now.Sub(b.first) >= period || // however few there are
		b.calls >= fewest && 2*b.failed >= b.calls
	return b.open
}

// succeed counts a round trip that came back in time. It does not close the breaker: only
// a probe does.
func (b *breaker) succeed(now time.Time) {
	b.count(now)
	b.row = 0
}

func (b *breaker) count(now time.Time) {
	if now.Sub(b.since) >= period {
		b.since, b.calls, b.failed = now, 0, 0
	}
	b.calls++
}

// close is for a probe that came back in time.
func (b *breaker) close() { *b = breaker{} }
