package fairshare

import (
	"context"
	"errors"
	"slices"
	"sync"
	"time"
)

// Why there was no turn.
var (
	// ErrBusy: none in time, or no room to wait in.
	ErrBusy = errors.New("fairshare: no turn")
	// ErrShare: as many from the same address wait as may.
	ErrShare = errors.New("fairshare: the address has its share")
)

// recent is how many turns are remembered to tell who had many, and for how long.
const (
	recentTurns = 4096
	recentTime  = time.Minute
)

// Queue gives turns, a few at a time. Of those that wait, the next is the one whose
// networks had the fewest turns of late: a newcomer does not stand behind the hundreds that
// somebody else sent before. Those who are vouched for have a room of their own and, while
// any of them wait, every other turn, so that strangers cannot keep them out whatever their
// number. It is safe for concurrent use.
type Queue struct {
	width int

	now func() time.Time

	mu        sync.Mutex
	in        int
	strangers line
	vouched   line
	turns     []turn // the oldest first
	had       usage
	last      *line // whose the last turn was
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

// NewQueue makes a queue that lets width in at a time and room strangers wait, a quarter as
// many who are vouched for, and of both half as many in reserve.
func NewQueue(width, room int, now func() time.Time) *Queue {
	return &Queue{width: width, now: now, strangers: line{share: share{limit: room}}, vouched: line{share: share{limit: room / 4}}}
}

// Enter waits for a turn, which must be given back with Leave if there was one. vouched
// sources are known to be somebody. Errors are [ErrBusy] and [ErrShare].
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

// addWaiter gives a turn at once, or a place in the line.
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

// giveUp leaves the line, unless the turn was given.
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

// Leave gives the turn back, to the next in line.
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
