package admission

import (
	"context"
	"slices"
	"sync"
	"sync/atomic"
	"time"
)

// maxWaiting bounds the queue when rounds are very short.
const maxWaiting = 1024

// queue holds the requests that wait for a round, the oldest first.
type queue struct {
	mu      sync.Mutex
	waiting []chan struct{}
	took    time.Duration // how long the last full rounds took, on average
	count   atomic.Int64  // of waiting
}

func (q *queue) length() int { return int(q.count.Load()) }

// recordRound records the duration of a full round.
func (q *queue) recordRound(took time.Duration) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.took += (took - q.took) / 4
}

// admitOldest admits the n oldest and returns how many there were.
func (q *queue) admitOldest(n int) (released int) {
	if q.length() == 0 {
		return 0
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	released = max(0, min(n, len(q.waiting)))
	for _, ready := range q.waiting[:released] {
		close(ready)
	}
	q.waiting = slices.Delete(q.waiting, 0, released)
	q.count.Store(int64(len(q.waiting)))
	return released
}

// waitForAdmission waits for a release. It returns false without waiting when more than a round's work
// is ahead and the rounds that takes would last longer than patience, given how old the
// present round is already, and false when the context ends.
func (q *queue) waitForAdmission(ctx context.Context, work int, patience, age time.Duration, joined func()) bool {
	q.mu.Lock()
	ahead := len(q.waiting)
	if ahead >= maxWaiting || ahead >= work && time.Duration(ahead/work+1)*max(q.took, age) > patience {
		q.mu.Unlock()
		return false
	}
	ready := make(chan struct{})
	q.waiting = append(q.waiting, ready)
	q.count.Store(int64(len(q.waiting)))
	q.mu.Unlock()
	joined()
	select {
	case <-ready:
		return true
	case <-ctx.Done():
		q.removeWaiter(ready)
		return false
	}
}

func (q *queue) removeWaiter(ready chan struct{}) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if i := slices.Index(q.waiting, ready); i >= 0 {
		q.waiting = slices.Delete(q.waiting, i, i+1)
		q.count.Store(int64(len(q.waiting)))
	}
}
