package crossdevice

import "github.com/gatehouse/gatehouse/module/store"

// What Count is told of a ticket. Expiry is not counted: expired tickets are those that began
// and were neither confirmed nor denied.
const (
	CountBegun       = "begun"
	CountScanned     = "scanned"
	CountConfirmed   = "confirmed"
	CountDenied      = "denied"
	CountWrongNumber = "wrong_number" // denied, by the wrong number
)

// countOf is the word for a move that was made.
func countOf(to store.TicketState, how store.TicketMove) string {
	switch {
	case how == store.TicketWrongNumber:
		return CountWrongNumber
	case to == store.TicketConfirmed:
		return CountConfirmed
	case to == store.TicketDenied:
		return CountDenied
	}
	return CountScanned
}

// Waiting is how many calls of Wait hang at this moment.
func (t *Tickets) Waiting() int {
	t.mu.Lock()
	defer t.mu.Unlock()
	return len(t.waiters)
}
