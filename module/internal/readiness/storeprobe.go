package readiness

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/gatehouse/gatehouse/module/internal/admin"
	"github.com/gatehouse/gatehouse/module/internal/lazy"
	"github.com/gatehouse/gatehouse/module/store"
)

const (
	// Timeout bounds a probe: less than the second after which a kubelet gives up.
	Timeout = 800 * time.Millisecond
	// probeAge is how long the result of a probe is reused, so that many health checks put no load
	// on the store.
	probeAge = time.Second
)

var errNoAnswer = errors.New("no answer within 800ms")

// Result is what a probe has found.
type Result struct {
	Store, Keys error // why they cannot be used, or nil
	Degraded    error // what a store that answers cannot do, while the node still serves
}

// Probe finds out whether the store answers. There is no new probe while the last result is recent.
type Probe struct {
	background[Result]
	probe func(context.Context) Result
}

func newProbe(probe func(context.Context) Result) *Probe {
	return &Probe{background[Result]{timeout: Timeout, patience: Timeout}, probe}
}

// Ask waits for the result until the probe is overdue. enter holds what the probe needs until leave
// is called: the probe may end after the health check.
func (p *Probe) Ask(ctx context.Context, enter func() (leave func(), err error)) Result {
	due := func() bool { return time.Since(p.ended) >= probeAge }
	found, err := p.ask(ctx, due, func() (func(context.Context) Result, error) {
		leave, err := enter()
		return func(ctx context.Context) Result {
			defer leave()
			return p.probe(ctx)
		}, err
	})
	if err != nil {
		return Result{Store: err, Keys: err}
	}
	return found
}

// probeKey is the key of a record that is never written.
var probeKey = store.Key{Kind: store.KindProbe, ID: "ready"}

// NewProbe returns the probe of a store and its signing keys, which keysUsable examines.
func NewProbe(s *lazy.Store, keysUsable func(context.Context) error) *Probe {
	writes := newWriteProbe()
	return newProbe(func(ctx context.Context) Result { return probeStore(ctx, s, keysUsable, writes) })
}

// probeStore reads and, at intervals, writes. If the store is a file of this node alone, a node that
// cannot write fails: nobody can sign in there, and no other node is affected. A shared store that
// refuses writes refuses those of all nodes, which can still verify tokens: taking every node out of
// service would help nobody.
func probeStore(ctx context.Context, s *lazy.Store, keysUsable func(context.Context) error, writes *writeProbe) Result {
	_, err := s.Get(ctx, probeKey)
	if errors.Is(err, store.ErrNotFound) {
		err = nil
	}
	found := Result{Store: err, Keys: keysUsable(ctx)}
	if err != nil {
		return found
	}
	backend, err := s.Open(ctx)
	if err != nil {
		found.Store = err
		return found
	}
	if h, ok := backend.(interface {
		// Health returns what keeps the store from working according to its last calls, or nil.
		// It MUST NOT wait for a server.
		Health() error
	}); ok {
		found.Degraded = h.Health()
	}
	_, own := backend.(admin.FileStore)
	if found.Degraded != nil && !own {
		return found // the store itself notices when that ends
	}
	// The backend itself, because metrics count only what requests do.
	if err := writes.ask(ctx, s.Suspect, writeTo(backend)); err != nil && own {
		found.Store = fmt.Errorf("it reads, but cannot write: %w", err)
	} else if err != nil {
		found.Degraded = err
	}
	return found
}
