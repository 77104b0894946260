package store

import "time"

// TicketMove says what came of moving a ticket. Only [TicketMoved] and, for a decision,
// [TicketWrongNumber] leave it other than it was.
type TicketMove int

// The outcomes.
const (
	TicketMoved TicketMove = iota
	// TicketSame: it was so already, by the same hand.
	TicketSame
	// TicketOver: too late.
	TicketOver
	// TicketTaken: it belongs to the session that scanned it, and that is another one.
	TicketTaken
	// TicketDecided: there was a decision, and there is one only.
	TicketDecided
	// TicketWrongNumber: the one try at the number failed, and the ticket is denied.
	TicketWrongNumber
	// TicketUnconfirmed: there is nothing to deliver.
	TicketUnconfirmed
)

// Final reports whether a decision has been made.
func (t Ticket) Final() bool { return t.State == TicketConfirmed || t.State == TicketDenied }

// OverAt is the moment from which the ticket is expired if nothing changes until then,
// zero for never: a denial stays one, and so does an outcome that was told.
func (t Ticket) OverAt() time.Time {
	switch {
	case t.State == TicketDenied, !t.Delivered.IsZero():
		return time.Time{}
	case t.State == TicketPending:
		return t.Expires
	default:
		return t.Ends
	}
}

// Over reports whether the ticket has expired.
func (t Ticket) Over(now time.Time) bool {
	at := t.OverAt()
	return !at.IsZero() && !now.Before(at)
}

// Scan binds the ticket to the first signed-in session that comes with it.
func (t Ticket) Scan(subject, session string, authTime, now time.Time) (Ticket, TicketMove) {
	switch {
	case t.Over(now):
		return t, TicketOver
	case t.Scanner != "" && !t.scannedBy(subject, session), session == "", subject == "":
		return t, TicketTaken
	case t.Final():
		return t, TicketDecided
	case t.State == TicketScanned:
		return t, TicketSame
	}
	t.State, t.Scanner, t.Subject, t.AuthTime = TicketScanned, session, subject, authTime
	return t, TicketMoved
}

// Decide confirms or denies. Who has the scanner's session but not the number confirms
// nothing and gets no second try: of a hundred guesses one would be right. attempt names
// the decision, so that a node which lost the store's reply knows its own.
func (t Ticket) Decide(subject, session string, allow bool, number, attempt string, now time.Time) (Ticket, TicketMove) {
	switch {
	case t.Over(now):
		return t, TicketOver
	case !t.scannedBy(subject, session):
		return t, TicketTaken
	case t.Final():
		return t, TicketDecided
	}
	t.Attempt = attempt
	switch {
	case !allow:
		t.State = TicketDenied
	case number != t.Number && t.Number != "":
		t.State = TicketDenied
		return t, TicketWrongNumber
	default:
		t.State = TicketConfirmed
	}
	return t, TicketMoved
}

// Deliver marks the first telling of a confirmation.
func (t Ticket) Deliver(now time.Time) (Ticket, TicketMove) {
	switch {
	case t.Over(now):
		return t, TicketOver
	case t.State != TicketConfirmed:
		return t, TicketUnconfirmed
	case !t.Delivered.IsZero():
		return t, TicketSame
	}
	t.Delivered = now
	return t, TicketMoved
}

func (t Ticket) scannedBy(subject, session string) bool {
	return session != "" && t.Scanner == session && t.Subject == subject
}

// UserCode says which ticket a short code stands for. It is stored under the digest of the code.
type UserCode struct {
	schema
	Ticket string `json:"ticket"`
}

// Turn tells every node that a ticket has changed. It is created once for each state the
// ticket comes to, and says no more than which ticket: who wants to know reads that.
type Turn struct {
	schema
	Ticket string `json:"ticket"`
}
