package redis

import "time"

const (
	maxFailuresInRow = 5           // open the breaker
	breakerPeriod    = time.Second // over which failed round trips are counted
	minCalls         = 10          // in a period, below which half of them failing means nothing
)

// breaker decides whether to wait for Redis. It is a pure state machine; the zero value is
// closed.
type breaker struct {
	open          bool
	failuresInRow int       // since the last success
	firstFailure  time.Time // of those in a row
	periodStart   time.Time
	calls         int // in the period
	failed        int
}

// countFailure counts a round trip that failed or took too long, and reports whether the breaker
// opened just now.
func (b *breaker) countFailure(now time.Time) bool {
	if b.open {
		return false
	}
	b.countCall(now)
	b.failed++
	if b.failuresInRow == 0 {
		b.firstFailure = now
	}
	b.failuresInRow++
	b.open = b.failuresInRow >= maxFailuresInRow ||
		b.failuresInRow > 1 && now.Sub(b.firstFailure) >= breakerPeriod || // however few there are
		b.calls >= minCalls && 2*b.failed >= b.calls
	return b.open
}

// countSuccess counts a round trip that was answered in time. It does not close the breaker:
// only a health check does.
func (b *breaker) countSuccess(now time.Time) {
	b.countCall(now)
	b.failuresInRow = 0
}

func (b *breaker) countCall(now time.Time) {
	if now.Sub(b.periodStart) >= breakerPeriod {
		b.periodStart, b.calls, b.failed = now, 0, 0
	}
	b.calls++
}

// reset closes the breaker, after a health check that was answered in time.
func (b *breaker) reset() { *b = breaker{} }
