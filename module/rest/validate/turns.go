package validate

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"sync"
	"time"
)

const (
	// largeBody is how many bytes of values are checked against a schema without waiting for a turn.
	largeBody = 16 << 10
	// largeEffort is how many checks a smaller body takes without waiting for one: they take a tenth of a second.
	largeEffort = 50_000
	// patience is how long other bodies wait for their turn.
	patience = 10 * time.Second
	// remembered is of how many callers it is known at most when they last had a turn.
	remembered = 10_000
)

// Caller is whose body is checked.
type Caller struct {
	// Client is "" for all that have no token, and Share which of its users, or of their networks.
	Client, Share string
	// Gone is closed when nobody waits for the answer any more; nil: somebody always does.
	Gone <-chan struct{}
}

// turns bounds how many large bodies are checked at once. The validator reports every fault: a list of 100,000 elements
// that are all wrong, 200 KB, takes a second and 90 MiB.
//
// The next turn goes to the client that has gone longest without one, and to the caller of it that has: otherwise
// nobody would get a turn in time while a single caller keeps sending large bodies.
type turns struct {
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
	turn chan struct{} // closed when it is given
}

// large are the turns of all schemas. Half of the processors are left to other requests.
var large = newTurns(max(1, runtime.GOMAXPROCS(0)/2))

var (
	errTurn = errors.New("too many large bodies are being checked against schemas")
	errGone = fmt.Errorf("the client has gone while its body waited to be checked against a schema: %w", context.Canceled) // no fault of the gateway
)

func newTurns(n int) *turns {
	return &turns{free: n, clients: make(map[string]int), callers: make(map[caller]int)}
}

// take waits for a turn, which ends with done. Whoever has gone waits no longer: whoever sends bodies and leaves would
// fill the memory with them, and whoever tries again would have to wait for all earlier tries.
func (t *turns) take(c Caller) (done func(), err error) {
	w := t.enter(c)
	late := time.NewTimer(patience)
	defer late.Stop()
	select {
	case <-w.turn:
	case <-late.C:
		if t.leave(w) {
			return nil, errTurn
		}
	case <-c.Gone:
		if t.leave(w) {
			return nil, errGone
		}
	}
	return t.end, nil
}

func (t *turns) enter(c Caller) *waiter {
	t.mu.Lock()
	defer t.mu.Unlock()
	w := &waiter{caller{c.Client, c.Share}, make(chan struct{})}
	t.waiting = append(t.waiting, w)
	if t.free > 0 {
		t.free--
		t.giveNext()
	}
	return w
}

// leave reports false if w has its turn already.
func (t *turns) leave(w *waiter) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	i := slices.Index(t.waiting, w)
	if i < 0 {
		return false
	}
	t.waiting = slices.Delete(t.waiting, i, i+1)
	return true
}

func (t *turns) end() {
	t.mu.Lock()
	defer t.mu.Unlock()
	if len(t.waiting) > 0 {
		t.giveNext()
		return
	}
	t.free++
	t.forget()
}

func (t *turns) giveNext() {
	next := slices.MinFunc(t.waiting, func(a, b *waiter) int {
		return cmp.Or(cmp.Compare(t.clients[a.client], t.clients[b.client]), cmp.Compare(t.callers[a.caller], t.callers[b.caller]))
	})
	t.waiting = slices.DeleteFunc(t.waiting, func(w *waiter) bool { return w == next })
	if len(t.callers) >= remembered {
		t.forget()
	}
	t.given++
	t.clients[next.client], t.callers[next.caller] = t.given, t.given
	close(next.turn)
}

func (t *turns) forget() {
	clear(t.clients)
	clear(t.callers)
}
