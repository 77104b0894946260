package admission

import (
	"sync/atomic"
	"time"
)

const (
	// returning is how many refused clients may be told to return in the same second.
	returning = 200
	// longest is the largest Retry-After, in seconds.
	longest = 10
)

// pace spreads the refused clients over the next seconds, so that they do not all return at once.
type pace struct {
	second atomic.Int64 // the current one
	count  atomic.Int64 // refusals in it
	spread atomic.Int64 // over how many seconds, from the second before
}

// nextRetryAfter is the Retry-After of a refusal.
func (p *pace) nextRetryAfter(now int64) int {
	second := now / int64(time.Second)
	if was := p.second.Load(); was != second && p.second.CompareAndSwap(was, second) {
		n := p.count.Swap(0)
		if second-was > longest {
			n = 0
		}
		p.spread.Store(min(n/returning, longest-1))
	}
	// Already within the first second.
	n := p.count.Add(1)
	return 1 + int(n%(1+max(p.spread.Load(), min(n/returning, longest-1))))
}
