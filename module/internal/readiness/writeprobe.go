package readiness

import (
	"context"
	"sync"
	"time"

	"github.com/gatehouse/gatehouse/module/internal/secret"
	"github.com/gatehouse/gatehouse/module/store"
)

const (
	// writeEvery is the least time between two writes to a store that can be written.
	writeEvery = 10 * time.Second
	// writeAgain is the least time between two writes after a failed write or operation: a full
	// disk is not overloaded, and freed space is soon noticed.
	writeAgain = 2 * time.Second
	// writePatience is how long a readiness check waits for a write. After that the previous
	// result counts: a slow disk makes sign-ins slow, not impossible.
	writePatience = 300 * time.Millisecond
	// writeTimeout is after how long a write has failed.
	writeTimeout = 10 * time.Second
	// writeLife is how long the record lives: other nodes' clocks may differ.
	writeLife = time.Minute
	// writeSize makes the write need about as much room as those of a sign-in.
	writeSize = 4 << 10
)

// writeProbe finds out whether a store can be written, by writing a record without a meaning. One
// write runs at a time.
type writeProbe struct {
	mu    sync.Mutex
	begun time.Time     // of the last write; zero: there was none
	done  chan struct{} // closed when the write under way ends; nil: none is
	err   error         // of the last write that ended
}

// ask returns why the store cannot be written, or nil. suspect reports whether an operation has
// failed since it was last called; then an earlier successful write no longer counts.
func (p *writeProbe) ask(ctx context.Context, suspect func() bool, write func(context.Context) error) error {
	p.mu.Lock()
	if age := time.Since(p.begun); p.done == nil && (p.begun.IsZero() || age >= writeEvery || age >= writeAgain && (p.err != nil || suspect())) {
		p.begun, p.done = time.Now(), make(chan struct{})
		go p.run(p.done, write)
	}
	done := p.done
	p.mu.Unlock()
	if done != nil {
		overdue := time.NewTimer(writePatience)
		defer overdue.Stop()
		select {
		case <-done:
		case <-overdue.C:
		case <-ctx.Done():
		}
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.err
}

func (p *writeProbe) run(done chan<- struct{}, write func(context.Context) error) {
	ctx, cancel := context.WithTimeout(context.Background(), writeTimeout)
	defer cancel()
	err := write(ctx)
	p.mu.Lock()
	defer p.mu.Unlock()
	p.err, p.done = err, nil
	close(done)
}

// writeTo creates a record under a unique key, so that nodes do not conflict, and with a parent,
// so that all indexes of the store are written.
func writeTo(b store.Backend) func(context.Context) error {
	return func(ctx context.Context) error {
		_, err := b.Create(ctx, store.Record{
			Key:    store.Key{Kind: store.KindProbe, ID: secret.ID()},
			Parent: "ready", Value: make([]byte, writeSize), Expires: time.Now().Add(writeLife),
		})
		return err
	}
}
