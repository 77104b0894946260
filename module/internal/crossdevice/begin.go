package crossdevice

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/gatehouse/gatehouse/module/internal/secret"
	"github.com/gatehouse/gatehouse/module/store"
)

// The lives of tickets. What is scanned quickly was scanned by who sees the screen, so a
// code that is scanned lives shortly (RFC 10027, section 6.1.3); one that is typed needs
// somebody to find a keyboard first.
const (
	scanLife   = 2 * time.Minute
	scanEnds   = 5 * time.Minute
	deviceLife = 10 * time.Minute
)

// told is how long a ticket outlives its end, so that whoever still asks hears that it has
// expired and not that there never was one.
const told = 10 * time.Minute

// idLength is that of [secret.ID].
const idLength = 22

// ticketLife is how long a ticket of a kind can be scanned, and how long it has in all.
func ticketLife(kind store.TicketKind) (scan, whole time.Duration) {
	if kind == store.TicketDevice {
		return deviceLife, deviceLife
	}
	return scanLife, scanEnds
}

// Begin stores a new ticket. The caller gives its kind, what is asked, Poller, Address and
// UserAgent; times and codes are made here, and for one that is scanned the number.
func (t *Tickets) Begin(ctx context.Context, ticket store.Ticket) (id string, _ store.Ticket, err error) {
	if ticket.Poller == "" || ticket.Client == "" || ticket.Kind != store.TicketScan && ticket.Kind != store.TicketDevice {
		return "", ticket, errors.New("crossdevice: an incomplete ticket")
	}
	id = secret.ID()
	scan, whole := ticketLife(ticket.Kind)
	ticket.State = store.TicketPending
	ticket.Scanner, ticket.Subject, ticket.AuthTime, ticket.Attempt, ticket.Delivered = "", "", time.Time{}, "", time.Time{}
	ticket.IssuedAt = t.Now()
	ticket.Expires, ticket.Ends = ticket.IssuedAt.Add(scan), ticket.IssuedAt.Add(whole)
	ticket.Number = ""
	if ticket.Kind == store.TicketScan {
		ticket.Number = confirmNumber()
	}
	if ticket.UserCode, err = t.claimCode(ctx, id, ticket.Ends.Add(told)); err != nil {
		return "", ticket, err
	}
	value, err := store.Encode(&ticket)
	if err != nil {
		return "", ticket, err
	}
	_, err = t.Store.Create(ctx, store.Record{
		Key: store.Key{Kind: store.KindTicket, ID: id}, Value: value, Expires: ticket.Ends.Add(told),
	})
	if err != nil {
		return "", ticket, fmt.Errorf("crossdevice: storing a ticket: %w", err)
	}
	t.Count(ticket.Kind, CountBegun)
	return id, ticket, nil
}
