package store

import (
	"context"
	"sync/atomic"
	"time"
)

// Waited is how long one request has been kept waiting by its calls so far. Each call of a
// [Backend] is bounded, but a request makes several, one after another, and whoever sent it
// is to be told soon that the store is away: a backend across a network takes what has gone
// before off the time it gives the next call. One that never waits need not look.
//
// The methods take a nil Waited for a request that has not waited at all.
type Waited struct{ sum atomic.Int64 }

type waitedKey struct{}

// OneRequest marks ctx as that of one request. What is marked already stays as it is, so
// that handlers behind one another share one account. Background work and commands of an
// operator are not marked: each of their calls has all the time a call may have.
func OneRequest(ctx context.Context) context.Context {
	if WaitedIn(ctx) != nil {
		return ctx
	}
	return context.WithValue(ctx, waitedKey{}, new(Waited))
}

// WaitedIn is the account of the request that ctx belongs to, nil if it belongs to none.
func WaitedIn(ctx context.Context) *Waited {
	w, _ := ctx.Value(waitedKey{}).(*Waited)
	return w
}

// Add counts what a call has kept its request waiting, as far as that is out of the
// ordinary: only the backend knows what is.
func (w *Waited) Add(d time.Duration) {
	if w != nil && d > 0 {
		w.sum.Add(int64(d))
	}
}

// Sum is all that was added.
func (w *Waited) Sum() time.Duration {
	if w == nil {
		return 0
	}
	return time.Duration(w.sum.Load())
}
