package store

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"
)

var ticketEpoch = time.Unix(1_700_000_000, 0)

func newTicket(number string) Ticket {
	return Ticket{
		Kind: TicketScan, State: TicketPending, Number: number,
		IssuedAt: ticketEpoch, Expires: ticketEpoch.Add(2 * time.Minute), Ends: ticketEpoch.Add(5 * time.Minute),
	}
}

// at is a ticket after some steps, each a word: scan, confirm, deny, deliver.
func at(t *testing.T, steps string) Ticket {
	t.Helper()
	ticket, now := newTicket("42"), ticketEpoch
	for step := range strings.FieldsSeq(steps) {
		var outcome TicketMove
		switch step {
		case "scan":
			ticket, outcome = ticket.Scan("u", "s", ticketEpoch, now)
		case "confirm":
			ticket, outcome = ticket.Decide("u", "s", true, "42", "first", now)
		case "deny":
			ticket, outcome = ticket.Decide("u", "s", false, "", "first", now)
		case "deliver":
			ticket, outcome = ticket.Deliver(now)
		}
		if outcome != TicketMoved {
			t.Fatalf("%s of %q: %d", step, steps, outcome)
		}
	}
	return ticket
}

func TestTicketTransitions(t *testing.T) {
	soon, expired, ended := ticketEpoch.Add(time.Minute), ticketEpoch.Add(2*time.Minute), ticketEpoch.Add(5*time.Minute)
	scan := func(subject, session string) func(Ticket, time.Time) (Ticket, TicketMove) {
		return func(t Ticket, now time.Time) (Ticket, TicketMove) {
			return t.Scan(subject, session, ticketEpoch, now)
		}
	}
	decide := func(subject, session string, allow bool, number string) func(Ticket, time.Time) (Ticket, TicketMove) {
		return func(t Ticket, now time.Time) (Ticket, TicketMove) {
			return t.Decide(subject, session, allow, number, "second", now)
		}
	}
	for _, c := range []struct {
		name  string
		steps string
		now   time.Time
		move  func(Ticket, time.Time) (Ticket, TicketMove)
		want  TicketMove
		state TicketState
	}{
		{"the first session scans", "", soon, scan("u", "s"), TicketMoved, TicketScanned},
		{"the same session scans again", "scan", soon, scan("u", "s"), TicketSame, TicketScanned},
		{"another session scans", "scan", soon, scan("v", "r"), TicketTaken, TicketScanned},
		{"another session of the same user scans", "scan", soon, scan("u", "r"), TicketTaken, TicketScanned},
		{"the session is another user's now", "scan", soon, scan("v", "s"), TicketTaken, TicketScanned},
		{"nobody scans", "", soon, scan("", ""), TicketTaken, TicketPending},
		{"it is scanned too late", "", expired, scan("u", "s"), TicketOver, TicketPending},
		{"it is scanned again when it could not be scanned any more", "scan", expired, scan("u", "s"), TicketSame, TicketScanned},
		{"it is scanned again after the end", "scan", ended, scan("u", "s"), TicketOver, TicketScanned},
		{"a confirmed one is scanned again", "scan confirm", soon, scan("u", "s"), TicketDecided, TicketConfirmed},
		{"a confirmed one is scanned by another", "scan confirm", soon, scan("v", "r"), TicketTaken, TicketConfirmed},
		{"a denied one is scanned again", "scan deny", soon, scan("u", "s"), TicketDecided, TicketDenied},

		{"the scanner confirms", "scan", soon, decide("u", "s", true, "42"), TicketMoved, TicketConfirmed},
		{"the scanner denies", "scan", soon, decide("u", "s", false, ""), TicketMoved, TicketDenied},
		{"the number is wrong", "scan", soon, decide("u", "s", true, "43"), TicketWrongNumber, TicketDenied},
		{"the number is missing", "scan", soon, decide("u", "s", true, ""), TicketWrongNumber, TicketDenied},
		{"nobody has scanned", "", soon, decide("u", "s", true, "42"), TicketTaken, TicketPending},
		{"nobody has scanned and nobody decides", "", soon, decide("", "", true, "42"), TicketTaken, TicketPending},
		{"another session confirms", "scan", soon, decide("u", "r", true, "42"), TicketTaken, TicketScanned},
		{"another session denies", "scan", soon, decide("v", "r", false, ""), TicketTaken, TicketScanned},
		{"another session guesses the number", "scan", soon, decide("v", "r", true, "43"), TicketTaken, TicketScanned},
		{"the scanner confirms at the last moment", "scan", ended.Add(-1), decide("u", "s", true, "42"), TicketMoved, TicketConfirmed},
		{"the scanner confirms too late", "scan", ended, decide("u", "s", true, "42"), TicketOver, TicketScanned},
		{"it is confirmed twice", "scan confirm", soon, decide("u", "s", true, "42"), TicketDecided, TicketConfirmed},
		{"what is confirmed is denied", "scan confirm", soon, decide("u", "s", false, ""), TicketDecided, TicketConfirmed},
		{"what is denied is confirmed", "scan deny", soon, decide("u", "s", true, "42"), TicketDecided, TicketDenied},
		{"what is denied is confirmed after the end", "scan deny", ended, decide("u", "s", true, "42"), TicketDecided, TicketDenied},

		{"a confirmation is told", "scan confirm", soon, Ticket.Deliver, TicketMoved, TicketConfirmed},
		{"it is told again", "scan confirm deliver", soon, Ticket.Deliver, TicketSame, TicketConfirmed},
		{"it is told again after the end", "scan confirm deliver", ended, Ticket.Deliver, TicketSame, TicketConfirmed},
		{"it is told for the first time after the end", "scan confirm", ended, Ticket.Deliver, TicketOver, TicketConfirmed},
		{"a pending one is told", "", soon, Ticket.Deliver, TicketUnconfirmed, TicketPending},
		{"a scanned one is told", "scan", soon, Ticket.Deliver, TicketUnconfirmed, TicketScanned},
		{"a denied one is told", "scan deny", soon, Ticket.Deliver, TicketUnconfirmed, TicketDenied},
	} {
		t.Run(c.name, func(t *testing.T) {
			before := at(t, c.steps)
			after, got := c.move(before, c.now)
			if got != c.want || after.State != c.state {
				t.Errorf("came to %d and %s, want %d and %s", got, after.State, c.want, c.state)
			}
			if moved := got == TicketMoved || got == TicketWrongNumber; !moved && fmt.Sprint(after) != fmt.Sprint(before) {
				t.Errorf("it changed to %+v", after)
			}
		})
	}
}

func TestTicketWithoutANumberNeedsNone(t *testing.T) {
	ticket, _ := newTicket("").Scan("u", "s", ticketEpoch, ticketEpoch)
	if after, got := ticket.Decide("u", "s", true, "", "a", ticketEpoch); got != TicketMoved || after.State != TicketConfirmed {
		t.Errorf("came to %d and %s", got, after.State)
	}
}

// Whatever comes in whatever order at whatever time: one scanner, one decision by that one
// in time and with the number, one moment of delivery after it.
func TestAnySequenceKeepsTheTicketInvariants(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		ticket, now := newTicket(rapid.SampledFrom([]string{"", "42"}).Draw(t, "number")), ticketEpoch
		subjects, sessions := rapid.SampledFrom([]string{"", "u", "v"}), rapid.SampledFrom([]string{"", "s", "r"})
		scanner, owner := "", ""
		decided := false
		check := func(after Ticket, outcome TicketMove) {
			before := ticket
			switch {
			case before.Scanner != "" && (after.Scanner != before.Scanner || after.Subject != before.Subject):
				t.Fatalf("the scanner changed from %q to %q", before.Scanner, after.Scanner)
			case before.Final() && after.State != before.State:
				t.Fatalf("a decision changed from %s to %s", before.State, after.State)
			case before.Over(now) && fmt.Sprint(after) != fmt.Sprint(before):
				t.Fatalf("an expired ticket changed to %+v", after)
			case !before.Delivered.IsZero() && !after.Delivered.Equal(before.Delivered):
				t.Fatal("the delivery changed")
			case !after.Delivered.IsZero() && after.State != TicketConfirmed:
				t.Fatalf("a %s ticket was delivered", after.State)
			case after.Final() && (after.Scanner == "" || after.Subject == ""):
				t.Fatal("decided by nobody")
			case outcome != TicketMoved && outcome != TicketWrongNumber && fmt.Sprint(after) != fmt.Sprint(before):
				t.Fatalf("outcome %d and yet %+v", outcome, after)
			}
			ticket = after
		}
		t.Repeat(map[string]func(*rapid.T){
			"time passes": func(t *rapid.T) {
				now = now.Add(time.Duration(rapid.IntRange(0, 60).Draw(t, "seconds")) * time.Second)
			},
			"scan": func(t *rapid.T) {
				subject, session := subjects.Draw(t, "subject"), sessions.Draw(t, "session")
				after, outcome := ticket.Scan(subject, session, now, now)
				if outcome == TicketMoved {
					if scanner != "" || subject == "" || session == "" {
						t.Fatalf("bound to %q after %q", session, scanner)
					}
					scanner, owner = session, subject
				}
				check(after, outcome)
			},
			"decide": func(t *rapid.T) {
				subject, session := subjects.Draw(t, "subject"), sessions.Draw(t, "session")
				allow, number := rapid.Bool().Draw(t, "allow"), rapid.SampledFrom([]string{"", "42", "43"}).Draw(t, "number")
				after, outcome := ticket.Decide(subject, session, allow, number, "a", now)
				if outcome == TicketMoved || outcome == TicketWrongNumber {
					right := ticket.Number == "" || number == ticket.Number
					if decided || session != scanner || subject != owner || scanner == "" {
						t.Fatalf("decided by %q of %q, scanned by %q, decided before: %v", session, subject, scanner, decided)
					}
					if confirmed := after.State == TicketConfirmed; confirmed != (allow && right) {
						t.Fatalf("confirmed %v with %q for %q, allow %v", confirmed, number, ticket.Number, allow)
					}
					decided = true
				}
				check(after, outcome)
			},
			"deliver": func(*rapid.T) { check(ticket.Deliver(now)) },
		})
	})
}
