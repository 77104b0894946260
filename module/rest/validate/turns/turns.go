package turns

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"
)

const (
	// Patience is how long a caller waits for a turn.
	Patience = 10 * time.Second
	// maxWaiting is how many wait at most, and maxWaitingEach how many of one caller. What they wait with takes memory, and a
	// caller may keep its connections open, so that it does not count as gone.
	maxWaiting, maxWaitingEach = 256, 16
	// remembered is of how many callers it is known at most when they last had a turn.
	remembered = 10_000
)

// Caller is whose work it is.
type Caller struct {
	// Client is "" for all that have no token, and Share which of its users, or of their networks.
	Client, Share string
	// Gone is closed when nobody waits for the answer any more; nil: somebody always does.
	Gone <-chan struct{}
}

// Turns are given to the client that has gone longest without one, and to the caller of it that has: otherwise
// nobody would get a turn in time while a single caller keeps asking for them.
type Turns struct {
	mu      sync.Mutex
	free    int
	waiting []*waiter // the earliest first
	given   int       // counts the turns
	clients map[string]int
	callers map[caller]int // which turn they last had
}

type caller struct{ client, share string }

type waiter struct {
	caller
	decided chan struct{} // closed when the caller has its turn or will have none
	given   bool          // valid once decided is closed
}

var (
	// ErrNone is returned to callers that get no turn in time.
	ErrNone = errors.New("turns: none in time")
	// ErrGone is returned to callers that have gone while they waited. It is a context.Canceled: no fault of the gateway.
	ErrGone = fmt.Errorf("turns: the caller has gone: %w", context.Canceled)
)

// New returns n turns, which is how many may be had at once.
func New(n int) *Turns {
	return &Turns{free: n, clients: make(map[string]int), callers: make(map[caller]int)}
}

// Take waits for a turn, which ends with done. Whoever has gone waits no longer: whoever asks and leaves would
// fill the memory, and whoever tries again would have to wait for all earlier tries.
func (t *Turns) Take(c Caller) (done func(), err error) {
	w := t.enter(c)
	late := time.NewTimer(Patience)
	defer late.Stop()
	err = ErrNone
	select {
	case <-w.decided:
	case <-late.C:
	case <-c.Gone:
		err = ErrGone
	}
	if t.leave(w) || !w.given {
		return nil, err
	}
	return t.end, nil
}

func (t *Turns) enter(c Caller) *waiter {
	t.mu.Lock()
	defer t.mu.Unlock()
	w := &waiter{caller: caller{c.Client, c.Share}, decided: make(chan struct{})}
	t.waiting = append(t.waiting, w)
	if t.free > 0 {
		t.free--
		t.giveNext()
	}
	t.limit(w)
	return w
}

// limit refuses a waiter if too many wait: the newest of its caller, or of the client that has most, and of its callers
// the one that has most, whoever would be the last to have a turn.
func (t *Turns) limit(newest *waiter) {
	clients, callers := make(map[string]int), make(map[caller]int)
	for _, w := range t.waiting {
		clients[w.client]++
		callers[w.caller]++
	}
	switch {
	case callers[newest.caller] > maxWaitingEach:
		t.refuse(newest)
	case len(t.waiting) > maxWaiting:
		backwards := slices.Clone(t.waiting)
		slices.Reverse(backwards)
		t.refuse(slices.MaxFunc(backwards, func(a, b *waiter) int {
			return cmp.Or(cmp.Compare(clients[a.client], clients[b.client]), cmp.Compare(callers[a.caller], callers[b.caller]), t.compare(a, b))
		}))
	}
}

func (t *Turns) refuse(w *waiter) {
	t.remove(w)
	close(w.decided)
}

// leave reports false if w waits no longer.
func (t *Turns) leave(w *waiter) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.remove(w)
}

func (t *Turns) remove(w *waiter) bool {
	i := slices.Index(t.waiting, w)
	if i < 0 {
		return false
	}
	t.waiting = slices.Delete(t.waiting, i, i+1)
	return true
}

func (t *Turns) end() {
	t.mu.Lock()
	defer t.mu.Unlock()
	if len(t.waiting) > 0 {
		t.giveNext()
		return
	}
	t.free++
	t.forget()
}

func (t *Turns) giveNext() {
	next := slices.MinFunc(t.waiting, t.compare)
	t.remove(next)
	if len(t.callers) >= remembered {
		t.forget()
	}
	t.given++
	t.clients[next.client], t.callers[next.caller] = t.given, t.given
	next.given = true
	close(next.decided)
}

// compare is negative if a has its turn before b.
func (t *Turns) compare(a, b *waiter) int {
	return cmp.Or(cmp.Compare(t.clients[a.client], t.clients[b.client]), cmp.Compare(t.callers[a.caller], t.callers[b.caller]))
}

func (t *Turns) forget() {
	clear(t.clients)
	clear(t.callers)
}
