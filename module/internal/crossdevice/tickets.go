package crossdevice

import (
	"cmp"
	"context"
	"errors"
	"sync"
	"time"

	"github.com/gatehouse/gatehouse/module/store"
)

const (
	defaultMaxWaiting = 7500
	// defaultHold is how long a poll hangs: below the half minute after which proxies
	// begin to give up on an answer.
	defaultHold = 25 * time.Second
)

// Config is what tickets need.
type Config struct {
	Store store.Backend
	// Now is the clock. Default: time.Now.
	Now func() time.Time
	// MaxWaiting bounds the calls of Wait that hang at the same time. Default: 7,500.
	MaxWaiting int
	// Hold is how long a Wait hangs at most. Default: 25 seconds.
	Hold time.Duration
	// Count is told what becomes of tickets here, one of the words CountBegun to CountWrongNumber each. Default: nobody is.
	Count func(kind store.TicketKind, outcome string)
}

// Tickets makes tickets, moves them and waits for them. It is safe for concurrent use. The
// store is not its to close.
type Tickets struct {
	Config

	mu      sync.Mutex
	waiters map[string]*waiter // by ticket ID, at most MaxWaiting
	feed    *feed              // nil while nobody waits
	closed  bool
	closing chan struct{}
}

// New checks the configuration. It starts nothing and asks nobody.
func New(c Config) (*Tickets, error) {
	if c.Now == nil {
		c.Now = time.Now
	}
	c.MaxWaiting, c.Hold = cmp.Or(c.MaxWaiting, defaultMaxWaiting), cmp.Or(c.Hold, defaultHold)
	if c.Count == nil {
		c.Count = func(store.TicketKind, string) {}
	}
	switch {
	case c.Store == nil:
		return nil, errors.New("crossdevice: no store given")
	case c.MaxWaiting < 0 || c.Hold < 0:
		return nil, errors.New("crossdevice: neither the number of waiters nor their time may be negative")
	}
	return &Tickets{Config: c, waiters: make(map[string]*waiter), closing: make(chan struct{})}, nil
}

// Close ends all waiting: whoever waits is given the ticket as it is, and so is whoever
// asks afterwards. Everything else works on. Closing again is allowed.
func (t *Tickets) Close() {
	t.mu.Lock()
	defer t.mu.Unlock()
	if !t.closed {
		t.closed = true
		close(t.closing)
		t.stopListening()
	}
}

// Find returns the ticket. One that has expired is returned for a while (store.Ticket.Over
// tells), then it is ErrGone as one that never was.
func (t *Tickets) Find(ctx context.Context, id string) (store.Ticket, error) {
	_, ticket, err := t.readTicket(ctx, id)
	return ticket, err
}

// readTicket is on a stack of its own. While a poll hangs it keeps the stack that it once needed,
// and nothing before needs as much as reading does: some thousand polls would keep 32 KiB
// each where 16 are enough.
func (t *Tickets) readTicket(ctx context.Context, id string) (record store.Record, ticket store.Ticket, err error) {
	if len(id) != idLength { // a foreign text need not fit into a key
		return record, ticket, ErrGone
	}
	var panicked any
	done := make(chan struct{})
	go func() {
		defer close(done)
		defer func() { panicked = recover() }()
		record, err = store.Read(ctx, t.Store, store.Key{Kind: store.KindTicket, ID: id}, &ticket)
	}()
	<-done
	if panicked != nil {
		panic(panicked) // where somebody recovers
	}
	if errors.Is(err, store.ErrNotFound) {
		err = ErrGone
	}
	return record, ticket, err
}
