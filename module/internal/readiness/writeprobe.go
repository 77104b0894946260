package readiness

import (
	"context"
	"time"

	"github.com/gatehouse/gatehouse/module/internal/secret"
	"github.com/gatehouse/gatehouse/module/store"
)

const (
	// writeEvery is the minimum time between two writes to a store that can be written.
	writeEvery = 10 * time.Second
	// writeAgain is the minimum time between two writes after a failed write or operation: a full
	// disk is not overloaded, and freed space is noticed soon.
	writeAgain = 2 * time.Second
	// writePatience is how long health checks wait for a write. After that the previous result
	// counts: a slow disk makes sign-ins slow, not impossible.
	writePatience = 300 * time.Millisecond
	// writeTimeout is the time after which a write has failed.
	writeTimeout = 10 * time.Second
	// writeLife is the lifetime of the record: clocks of other nodes may differ.
	writeLife = time.Minute
	// writeSize makes the write about as large as those of a sign-in.
	writeSize = 4 << 10
)

// writeProbe finds out whether a store can be written, by writing a meaningless record.
type writeProbe struct{ background[error] }

func newWriteProbe() *writeProbe {
	return &writeProbe{background[error]{timeout: writeTimeout, patience: writePatience}}
}

// ask returns why the store cannot be written, or nil. While a write takes long, the previous result
// counts. suspect reports whether an operation has failed since it was last called; then an earlier
// successful write no longer counts.
func (p *writeProbe) ask(ctx context.Context, suspect func() bool, write func(context.Context) error) error {
	due := func() bool {
		age := time.Since(p.begun)
		return age >= writeEvery || age >= writeAgain && (p.last != nil || suspect())
	}
	found, _ := p.background.ask(ctx, due, func() (func(context.Context) error, error) { return write, nil })
	return found
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
