package fairshare

import (
	"context"
	"errors"
	"slices"
	"sync"
	"time"
)

// Errors of [Queue.Enter].
var (
	// ErrBusy: no turn came in time, or the queue is full.
	ErrBusy = errors.New("fairshare: the queue is full or too slow")
	// ErrShare: the address already has its maximum number of waiting requests.
	ErrShare = errors.New("fairshare: the address has used up its share of the queue")
)

// recentTurns and recentTime bound the memory of past turns, which decides whose networks had many.
const (
	recentTurns = 4096
	recentTime  = time.Minute
)

// Queue grants turns, a few at a time. Among those that wait, the next turn goes to the source
// whose networks had the fewest recent turns, so a newcomer does not wait behind the hundreds of
// requests that somebody else sent before. Sources that are vouched for have their own waiting room
// and, while any of them wait, every other turn, so that no number of strangers can keep them out.
// It is safe for concurrent use.
type Queue struct {
	width int

	now func() time.Time

	mu        sync.Mutex
	in        int
	strangers line
	vouched   line
	turns     []turn // the oldest first
	had       usage
	last      *line // that had the last turn
}

type line struct {
	share   share
	waiting []*waiter // in order of arrival
}

type waiter struct {
	source   Source
	reserved bool
	turn     chan struct{} // closed when it is given
}

type turn struct {
	at     time.Time
	source Source
}

// NewQueue returns a queue that grants width turns at a time. room strangers may wait, and a
// quarter as many sources that are vouched for; each of the two rooms has a reserve of half its
// size.
func NewQueue(width, room int, now func() time.Time) *Queue {
	return &Queue{width: width, now: now, strangers: line{share: share{limit: room}}, vouched: line{share: share{limit: room / 4}}}
}

// Enter waits for a turn. If it returns nil, the caller must call Leave. vouched says that the
// source is known, for instance signed in. The errors are [ErrBusy] and [ErrShare].
func (q *Queue) Enter(ctx context.Context, s Source, vouched bool, patience time.Duration) error {
	of := &q.strangers
	if vouched {
		of = &q.vouched
	}
	w, err := q.addWaiter(of, s)
	if err != nil {
		return err
	}
	select {
	case <-w.turn:
		return nil
	default:
	}
	timer := time.NewTimer(patience)
	defer timer.Stop()
	select {
	case <-w.turn:
		return nil
	case <-timer.C:
	case <-ctx.Done():
	}
	if q.giveUp(of, w) {
		return ErrBusy
	}
	return nil // the turn came at the same moment
}

// addWaiter grants a turn at once, or adds a waiter to the line.
func (q *Queue) addWaiter(of *line, s Source) (*waiter, error) {
	q.mu.Lock()
	defer q.mu.Unlock()
	w := &waiter{source: s, turn: make(chan struct{})}
	if q.in < q.width {
		q.in++
		q.grantTurn(of, w)
		return w, nil
	}
	held, ok := of.share.heldBy(s), false
	if ok, w.reserved = of.share.takeUnits(s, 1); !ok {
		if held > 0 {
			return nil, ErrShare
		}
		return nil, ErrBusy
	}
	of.waiting = append(of.waiting, w)
	return w, nil
}

// giveUp removes a waiter from the line. It reports false if the turn has been granted already.
func (q *Queue) giveUp(of *line, w *waiter) bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	i := slices.Index(of.waiting, w)
	if i < 0 {
		return false
	}
	of.removeWaiter(i)
	return true
}

// Leave ends a turn, which passes to the next in line.
func (q *Queue) Leave() {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.forgetOldTurns()
	of := &q.strangers
	if len(q.vouched.waiting) > 0 && (len(of.waiting) == 0 || q.last != &q.vouched) {
		of = &q.vouched
	}
	if len(of.waiting) == 0 {
		q.in--
		return
	}
	next, least := 0, q.had.weightedLoad(of.waiting[0].source)
	for i, w := range of.waiting {
		if had := q.had.weightedLoad(w.source); had < least {
			next, least = i, had
		}
	}
	w := of.waiting[next]
	of.removeWaiter(next)
	q.grantTurn(of, w)
}

func (l *line) removeWaiter(i int) {
	l.share.giveBack(l.waiting[i].source, 1, l.waiting[i].reserved)
	l.waiting = slices.Delete(l.waiting, i, i+1)
}

func (q *Queue) grantTurn(of *line, w *waiter) {
	q.last = of
	q.turns = append(q.turns, turn{q.now(), w.source})
	q.had.addUnits(w.source, 1)
	q.forgetOldTurns()
	close(w.turn)
}

// forgetOldTurns drops turns that are no longer recent.
func (q *Queue) forgetOldTurns() {
	gone := max(0, len(q.turns)-recentTurns)
	for _, t := range q.turns[:gone] {
		q.had.addUnits(t.source, -1)
	}
	for now := q.now(); gone < len(q.turns) && now.Sub(q.turns[gone].at) >= recentTime; gone++ {
		q.had.addUnits(q.turns[gone].source, -1)
	}
	q.turns = q.turns[gone:]
}
