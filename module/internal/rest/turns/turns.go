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
	// maxWaiting bounds the requests that wait, and maxWaitingEach those of one caller: each holds a request in memory, and a
	// caller that keeps its connections open does not count as gone.
	maxWaiting, maxWaitingEach = 256, 16
	// remembered bounds the callers whose last turn is remembered.
	remembered = 10_000
)

// Caller is whose work it is.
type Caller struct {
	// Client is "" for all callers without a token. Share tells the users of a client apart, or the networks of callers
	// without a token.
	Client, Share string
	// Gone is closed when nobody waits for the answer any more. Nil: somebody always does.
	Gone <-chan struct{}
}

// Turns bounds how many callers work at once. The next turn is for the client that has gone longest without one, and among
// its callers for the one that has: otherwise a single caller that keeps asking would keep all others from theirs.
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
	decided chan struct{} // closed when the caller has its turn or is refused
	hasTurn bool          // valid once decided is closed
}

var (
	// ErrNone is returned to callers that get no turn: too many wait, or they have waited for as long as Patience.
	ErrNone = errors.New("no turn: too many wait, or none came in time")
	// ErrGone is returned to callers that have gone while they waited. It is a context.Canceled: no fault of the gateway.
	ErrGone = fmt.Errorf("no turn: the caller has gone: %w", context.Canceled)
)

// New returns n turns, which is how many may be had at once.
func New(n int) *Turns {
	return &Turns{free: n, clients: make(map[string]int), callers: make(map[caller]int)}
}

// Take waits for a turn, which the caller ends by done. A caller that has gone no longer waits: otherwise one that asks and
// leaves would fill the memory, and one that tries again would wait for all its earlier tries.
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
	if t.leave(w) || !w.hasTurn {
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

// limit refuses one waiter if too many wait. Too many of one caller: the newest. Too many in all: one of the client that has
// most waiting, and among its callers of the one that has most, the one whose turn would come last.
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

// leave ends the wait of w. It reports false if that was decided before.
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
	next.hasTurn = true
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
