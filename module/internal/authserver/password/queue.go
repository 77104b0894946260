package password

import (
	"sync/atomic"
	"time"

	"github.com/gatehouse/gatehouse/module/internal/fairshare"
)

const (
	// maxWaiting is how many sign-ins of strangers may wait for a turn; each holds its form in
	// memory.
	maxWaiting = 1000
	// shareRetry is when an address whose sign-ins fill its share of the queue may come again,
	// and busyRetry when anybody may whose turn did not come in time.
	shareRetry = 2 * time.Second
	busyRetry  = 2 * time.Second
)

// queue lets a few passwords be hashed at a time, in a fair order: see [fairshare.Queue].
type queue struct {
	*fairshare.Queue
	patience time.Duration
	came     atomic.Uint64 // so many have come
}

func newQueue(width int, patience time.Duration, now func() time.Time) *queue {
	return &queue{Queue: fairshare.NewQueue(width, maxWaiting, now), patience: patience}
}

// stages is in how many steps timeouts are staggered within the second half of the patience, so
// that queued sign-ins do not all fail at once: rendering hundreds of pages at the same moment
// would hold everybody else up.
const stages = 256

func (q *queue) nextPatience() time.Duration {
	return q.patience - q.patience/2*time.Duration(q.came.Add(1)%stages)/stages
}
