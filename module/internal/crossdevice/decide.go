package crossdevice

import (
	"context"
	"errors"
	"time"

	"github.com/gatehouse/gatehouse/module/internal/secret"
	"github.com/gatehouse/gatehouse/module/store"
)

// Person is who holds the second device.
type Person struct {
	Subject string
	// Session is the digest of the browser session.
	Session  string
	AuthTime time.Time
}

// Scan binds the ticket to the first signed-in session that comes with it; the same one may
// come again. With ErrTaken, ErrExpired and ErrDecided the ticket is returned as it is.
func (t *Tickets) Scan(ctx context.Context, id string, by Person) (store.Ticket, error) {
	return t.moveTicket(ctx, id, func(ticket store.Ticket) (store.Ticket, store.TicketMove) {
		return ticket.Scan(by.Subject, by.Session, by.AuthTime, t.Now())
	})
}

// Decide confirms or denies, once, by the session that scanned. A wrong number denies and is
// ErrNumber. With every error of this package but ErrGone the ticket is returned as it is. ErrDecided is returned only
// if no failover of the store can undo the decision.
func (t *Tickets) Decide(ctx context.Context, id string, by Person, allow bool, number string) (store.Ticket, error) {
	attempt, number := secret.ID(), normalizeDigits(number)
	ticket, err := t.moveTicket(ctx, id, func(ticket store.Ticket) (store.Ticket, store.TicketMove) {
		if ticket.Attempt == attempt { // it is made: the store's answer was lost
			if allow && ticket.State == store.TicketDenied {
				return ticket, store.TicketWrongNumber
			}
			return ticket, store.TicketSame
		}
		return ticket.Decide(by.Subject, by.Session, allow, number, attempt, t.Now())
	})
	if errors.Is(err, ErrDecided) {
		if lost := store.Confirm(ctx, t.Store, store.Key{Kind: store.KindTicket, ID: id}); lost != nil {
			return store.Ticket{}, lost
		}
	}
	return ticket, err
}

// RightNumber reports whether Decide would confirm with this number; where there is none,
// any will do. It is no try at the number.
func RightNumber(ticket store.Ticket, number string) bool {
	return ticket.Number == "" || normalizeDigits(number) == ticket.Number
}

// Deliver marks that a confirmation is told to who polls; the first time counts. What is
// not confirmed is ErrUnconfirmed.
func (t *Tickets) Deliver(ctx context.Context, id string) (store.Ticket, error) {
	return t.moveTicket(ctx, id, func(ticket store.Ticket) (store.Ticket, store.TicketMove) {
		return ticket.Deliver(t.Now())
	})
}

// tries bounds how often a ticket is read again because another request changed it. It
// changes three times in its life.
const tries = 8

var errContended = errors.New("crossdevice: the ticket changed at every try")

// moveTicket changes a ticket by what step makes of it. After a swap of which nobody knows whether
// it took effect, step is asked what has come of it.
func (t *Tickets) moveTicket(ctx context.Context, id string, step func(store.Ticket) (store.Ticket, store.TicketMove)) (store.Ticket, error) {
	var lost error
	for range tries {
		record, before, err := t.readTicket(ctx, id)
		if err != nil {
			return store.Ticket{}, err
		}
		after, outcome := step(before)
		if after.State == before.State && after.Delivered.Equal(before.Delivered) {
			if lost != nil {
				t.storeNotice(ctx, id, before.State) // and not counted: it may be somebody else's move
			}
			return before, answers[outcome]
		}
		if lost != nil { // as it was: the write came to nothing, or is still under way
			return store.Ticket{}, lost
		}
		if record.Value, err = store.Encode(&after); err != nil {
			return store.Ticket{}, err
		}
		_, err = t.Store.Swap(ctx, record)
		switch {
		case err == nil:
			if after.State != before.State {
				t.Count(after.Kind, countOf(after.State, outcome))
				t.storeNotice(ctx, id, after.State)
			}
			return after, answers[outcome]
		case errors.Is(err, store.ErrNotFound):
			return store.Ticket{}, ErrGone
		case !errors.Is(err, store.ErrConflict):
			lost = err
		}
	}
	return store.Ticket{}, errContended
}
