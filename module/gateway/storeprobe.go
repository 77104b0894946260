package gateway

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/gatehouse/gatehouse/module/internal/admin"
	"github.com/gatehouse/gatehouse/module/store"
)

const (
	// probeTimeout is how long a probe may take: less than the second after which those
	// who ask, such as a kubelet, give up.
	probeTimeout = 800 * time.Millisecond
	// probeAge is how long what a probe found is the answer for all who ask, so that a
	// flood of questions is no load on the store.
	probeAge = time.Second
)

var errNoAnswer = errors.New("no answer within 800ms")

// pulse is what a probe found.
type pulse struct {
	store, keys error
	degraded    error // what a store that answers cannot do, while the node still serves
}

// storeProbe asks the store whether it answers: one question at a time, however many want
// to know, and none while the last answer is young. It runs beside them, since opening a
// store may take longer than they wait.
type storeProbe struct {
	look func(context.Context) pulse

	mu    sync.Mutex
	last  pulse
	ended time.Time     // when last was found; zero: never
	begun time.Time     // of the probe under way
	done  chan struct{} // closed at its end; nil: none is under way
}

// ask waits for the answer until the probe is overdue. enter holds what the probe needs
// until leave: it may end after those who asked for it.
func (p *storeProbe) ask(ctx context.Context, enter func() (leave func(), err error)) pulse {
	p.mu.Lock()
	if !p.ended.IsZero() && time.Since(p.ended) < probeAge {
		defer p.mu.Unlock()
		return p.last
	}
	if p.done == nil {
		leave, err := enter()
		if err != nil {
			p.mu.Unlock()
			return pulse{store: err, keys: err}
		}
		p.begun, p.done = time.Now(), make(chan struct{})
		go p.run(p.done, leave)
	}
	done, left := p.done, probeTimeout-time.Since(p.begun)
	p.mu.Unlock()
	overdue := time.NewTimer(left)
	defer overdue.Stop()
	select {
	case <-done:
	case <-overdue.C:
		return pulse{store: errNoAnswer, keys: errNoAnswer}
	case <-ctx.Done():
		return pulse{store: ctx.Err(), keys: ctx.Err()}
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.last
}

func (p *storeProbe) run(done chan<- struct{}, leave func()) {
	defer leave()
	ctx, cancel := context.WithTimeout(context.Background(), probeTimeout)
	defer cancel()
	found := p.look(ctx)
	p.mu.Lock()
	defer p.mu.Unlock()
	p.last, p.ended, p.done = found, time.Now(), nil
	close(done)
}

// probeKey is that of a record that nobody writes.
var probeKey = store.Key{Kind: store.KindProbe, ID: "ready"}

// look reads and, once in a while, writes. Where the store is a file of this node alone, a
// node that cannot write fails: nobody can sign in at it, and no other node is affected. A
// shared store that refuses to write does so to all nodes, which still judge tokens: to
// take every node out of service would help nobody.
func (c *core) look(ctx context.Context) pulse {
	_, err := c.store.Get(ctx, probeKey)
	if errors.Is(err, store.ErrNotFound) {
		err = nil
	}
	found := pulse{store: err, keys: c.ring.Usable(ctx)}
	if err != nil {
		return found
	}
	backend, err := c.store.Open(ctx)
	if err != nil {
		found.store = err
		return found
	}
	if h, ok := backend.(interface {
		// Health is nil, or what keeps the store from working as far as its last calls
		// know. It MUST NOT wait for a server.
		Health() error
	}); ok {
		found.degraded = h.Health()
	}
	_, own := backend.(admin.FileStore)
	if found.degraded != nil && !own {
		return found // it looks by itself when that has ended
	}
	// Past the metrics, which count what requests do.
	if err := c.writes.ask(ctx, c.store.Suspect, writeTo(backend)); err != nil && own {
		found.store = fmt.Errorf("it reads, but cannot write: %w", err)
	} else if err != nil {
		found.degraded = err
	}
	return found
}
