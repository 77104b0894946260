package crossdevice

import (
	"context"
	"time"

	"github.com/gatehouse/gatehouse/module/store"
)

// lookAgain is between two looks of a waiter while nobody would tell it of a change on
// another node.
const lookAgain = time.Second

// waiter is one call of Wait that hangs.
type waiter struct {
	turn     chan struct{} // of capacity 1: the ticket may have changed
	replaced chan struct{} // closed when a newer one takes the place
}

// Wait returns the ticket once its state is not last, or when it expires, after Hold, and at
// Close: at once if it is so already. One call waits for each ticket; the older of two gets
// ErrReplaced. Above MaxWaiting it does not wait and, if there is nothing new, gets ErrFull.
func (t *Tickets) Wait(ctx context.Context, id string, last store.TicketState) (store.Ticket, error) {
	// The place is taken before the ticket is read: no change falls between the two.
	w, full := t.addWaiter(id)
	if w == nil {
		ticket, err := t.Find(ctx, id)
		if err == nil && full && !t.hasNews(ticket, last) {
			err = ErrFull
		}
		return ticket, err
	}
	defer t.removeWaiter(id, w)
	hold := time.NewTimer(t.Hold)
	defer hold.Stop()
	look := time.NewTimer(t.Hold)
	defer look.Stop()
	for {
		ticket, err := t.Find(ctx, id)
		if err != nil || t.hasNews(ticket, last) {
			return ticket, err
		}
		var next <-chan time.Time
		mode, informed := t.noticeMode()
		if pause, ok := t.pollPause(ticket, informed); ok {
			look.Reset(pause)
			next = look.C
		}
		select {
		case <-w.turn:
		case <-mode:
		case <-next:
		case <-hold.C:
			return ticket, nil
		case <-t.closing:
			return ticket, nil
		case <-w.replaced:
			return ticket, ErrReplaced
		case <-ctx.Done():
			return ticket, ctx.Err()
		}
	}
}

// hasNews reports whether a waiter has something to be told.
func (t *Tickets) hasNews(ticket store.Ticket, last store.TicketState) bool {
	return ticket.State != last || ticket.Over(t.Now())
}

// pollPause is how long a waiter may go without looking. ok is false for any time.
func (t *Tickets) pollPause(ticket store.Ticket, informed bool) (_ time.Duration, ok bool) {
	pause, ok := lookAgain, !informed
	if over := ticket.OverAt(); !over.IsZero() {
		// A little later rather than a little early, which would be a look for nothing.
		if left := max(over.Sub(t.Now()), 0) + time.Millisecond; !ok || left < pause {
			pause, ok = left, true
		}
	}
	return pause, ok
}

// addWaiter takes the place of who waits for this ticket. Without a place, full says why.
func (t *Tickets) addWaiter(id string) (w *waiter, full bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.closed {
		return nil, false
	}
	old := t.waiters[id]
	if old == nil && len(t.waiters) >= t.MaxWaiting {
		return nil, true
	}
	w = &waiter{turn: make(chan struct{}, 1), replaced: make(chan struct{})}
	t.waiters[id] = w
	if old != nil {
		close(old.replaced)
	}
	t.startListening()
	return w, false
}

func (t *Tickets) removeWaiter(id string, w *waiter) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.waiters[id] == w {
		delete(t.waiters, id)
	}
	if len(t.waiters) == 0 {
		t.stopListeningLater()
	}
}

// wakeWaiter makes who waits for the ticket look. It never waits for anybody.
func (t *Tickets) wakeWaiter(id string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if w := t.waiters[id]; w != nil {
		select {
		case w.turn <- struct{}{}:
		default:
		}
	}
}
