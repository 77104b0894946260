package readiness

import (
	"context"
	"sync"
	"time"
)

// background runs one check at a time, apart from the health checks that ask for its result: a check
// may take longer than they wait.
type background[R any] struct {
	timeout  time.Duration // of a check
	patience time.Duration // how long after the start of a check its result is awaited

	mu    sync.Mutex
	last  R
	begun time.Time     // of the last check; zero: there was none
	ended time.Time     // of the last check that has ended
	done  chan struct{} // closed at the end of the current check; nil: none runs
}

// ask starts a check if none runs and it is due, and waits for the one that runs. It returns the last
// result; an error says why that is not the result of the current check. begin returns the check, or
// why there can be none; due and begin are called with the lock held.
func (b *background[R]) ask(ctx context.Context, due func() bool, begin func() (func(context.Context) R, error)) (R, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.done == nil {
		if !due() {
			return b.last, nil
		}
		check, err := begin()
		if err != nil {
			return b.last, err
		}
		b.begun, b.done = time.Now(), make(chan struct{})
		go b.run(check)
	}
	done, left := b.done, b.patience-time.Since(b.begun)
	b.mu.Unlock()
	err := await(ctx, done, left)
	b.mu.Lock()
	return b.last, err
}

func (b *background[R]) run(check func(context.Context) R) {
	ctx, cancel := context.WithTimeout(context.Background(), b.timeout)
	defer cancel()
	found := check(ctx)
	b.mu.Lock()
	defer b.mu.Unlock()
	close(b.done)
	b.last, b.ended, b.done = found, time.Now(), nil
}

func await(ctx context.Context, done <-chan struct{}, most time.Duration) error {
	overdue := time.NewTimer(most)
	defer overdue.Stop()
	select {
	case <-done:
		return nil
	case <-overdue.C:
		return errNoAnswer
	case <-ctx.Done():
		return ctx.Err()
	}
}
