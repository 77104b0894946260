package lazy

import (
	"context"
	"sync"
	"sync/atomic"
	"time"
)

// openRetry is how long a failure to open is remembered, so that requests do not queue behind one
// slow attempt after another.
const openRetry = time.Second

// Value opens something at first use, so that checking a configuration touches neither disk nor
// network, and again at the first use after drop. An open value is found without locking,
// because guards need it for every request.
type Value[T any] struct {
	open atomic.Pointer[T]

	mu       sync.Mutex
	failure  error
	failedAt time.Time
}

// Get returns what is open, or opens it. A failure is remembered for a second.
func (l *Value[T]) Get(ctx context.Context, open func(context.Context) (T, error)) (T, error) {
	if v := l.open.Load(); v != nil {
		return *v, nil
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	var none T
	if v := l.open.Load(); v != nil {
		return *v, nil
	}
	if l.failure != nil && time.Since(l.failedAt) < openRetry {
		return none, l.failure
	}
	// The value outlives the request that happens to be first.
	v, err := open(context.WithoutCancel(ctx))
	l.failure, l.failedAt = err, time.Now()
	if err != nil {
		return none, err
	}
	l.open.Store(&v)
	return v, nil
}

// drop closes the value if it is open. Concurrent users open it again after it is closed.
func (l *Value[T]) drop(shut func(T) error) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if v := l.open.Swap(nil); v != nil {
		return shut(*v)
	}
	return nil
}
