package readiness

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/gatehouse/gatehouse/module/internal/admin"
	"github.com/gatehouse/gatehouse/module/internal/lazy"
	"github.com/gatehouse/gatehouse/module/store"
)

const (
	// Timeout is how long a probe may take: less than the second after which a kubelet gives up.
	Timeout = 800 * time.Millisecond
	// probeAge is how long the result of a probe is reused, so that many health checks are no
	// load on the store.
	probeAge = time.Second
)

var errNoAnswer = errors.New("no answer within 800ms")

// Result is what a probe found.
type Result struct {
	Store, Keys error // why they cannot be used, or nil
	Degraded    error // what a store that answers cannot do, while the node still serves
}

// Probe finds out whether the store answers: one probe runs at a time, however many health checks
// there are, and none while the last result is recent. It runs apart from them, since opening a
// store may take longer than they wait.
type Probe struct {
	probe func(context.Context) Result

	mu    sync.Mutex
	last  Result
	ended time.Time     // when last was found; zero: never
	begun time.Time     // of the probe under way
	done  chan struct{} // closed at its end; nil: none is under way
}

// Ask waits for the result until the probe is overdue. enter holds what the probe needs until
// leave: the probe may end after the health check.
func (p *Probe) Ask(ctx context.Context, enter func() (leave func(), err error)) Result {
	p.mu.Lock()
	if !p.ended.IsZero() && time.Since(p.ended) < probeAge {
		defer p.mu.Unlock()
		return p.last
	}
	if p.done == nil {
		leave, err := enter()
		if err != nil {
			p.mu.Unlock()
			return Result{Store: err, Keys: err}
		}
		p.begun, p.done = time.Now(), make(chan struct{})
		go p.run(p.done, leave)
	}
	done, left := p.done, Timeout-time.Since(p.begun)
	p.mu.Unlock()
	overdue := time.NewTimer(left)
	defer overdue.Stop()
	select {
	case <-done:
	case <-overdue.C:
		return Result{Store: errNoAnswer, Keys: errNoAnswer}
	case <-ctx.Done():
		return Result{Store: ctx.Err(), Keys: ctx.Err()}
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.last
}

func (p *Probe) run(done chan<- struct{}, leave func()) {
	defer leave()
	ctx, cancel := context.WithTimeout(context.Background(), Timeout)
	defer cancel()
	found := p.probe(ctx)
	p.mu.Lock()
	defer p.mu.Unlock()
	p.last, p.ended, p.done = found, time.Now(), nil
	close(done)
}

// probeKey is the key of a record that is never written.
var probeKey = store.Key{Kind: store.KindProbe, ID: "ready"}

// NewProbe makes the probe of a store and its signing keys, which keysUsable examines.
func NewProbe(s *lazy.Store, keysUsable func(context.Context) error) *Probe {
	var writes writeProbe
	return &Probe{probe: func(ctx context.Context) Result { return probeStore(ctx, s, keysUsable, &writes) }}
}

// probeStore reads and, once in a while, writes. Where the store is a file of this node alone, a
// node that cannot write fails: nobody can sign in at it, and no other node is affected. A
// shared store that refuses to write does so to all nodes, which still verify tokens: taking
// every node out of service would help nobody.
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
		// Health is nil, or what keeps the store from working according to its last calls.
		// It MUST NOT wait for a server.
		Health() error
	}); ok {
		found.Degraded = h.Health()
	}
	_, own := backend.(admin.FileStore)
	if found.Degraded != nil && !own {
		return found // the store itself notices when that has ended
	}
	// Without the metrics, which count what requests do.
	if err := writes.ask(ctx, s.Suspect, writeTo(backend)); err != nil && own {
		found.Store = fmt.Errorf("it reads, but cannot write: %w", err)
	} else if err != nil {
		found.Degraded = err
	}
	return found
}
