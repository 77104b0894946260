package authserver

import (
	"net/http"
	"time"

	"github.com/gatehouse/gatehouse/module/internal/authserver/refusal"
	"github.com/gatehouse/gatehouse/module/internal/fairshare"
	"github.com/gatehouse/gatehouse/module/internal/httpx"
	"github.com/gatehouse/gatehouse/module/internal/lockout"
)

// What one address (IPv6: one /64) may do a minute. Without the first anybody fills the
// store with tickets; the second keeps a phone from binding all that are on screens around
// it; the third bounds the load of polls that lead to nothing; and the fourth is for names
// of tickets that nobody has been given.
var (
	ticketsOfAddress = lockout.Rule{Limit: 20, Window: time.Minute}
	scansOfAddress   = lockout.Rule{Limit: 30, Window: time.Minute}
	pollsOfAddress   = lockout.Rule{Limit: 240, Window: time.Minute}
	guessesOfAddress = lockout.Rule{Limit: 10, Window: time.Minute}
)

// ticketsTogether bounds what many addresses put into the store of a node, where a ticket
// stands for a quarter of an hour, to some hundred megabytes. A state that is long counts
// for several: a store writes some characters of it as six. It is divided among networks
// (see package fairshare), so that few do not stop everybody.
var ticketsTogether = lockout.Rule{Limit: 12_000, Window: time.Minute}

const stateOfOne = 512 // bytes

// maxHanging is how many polls of one address hang at a time: an office behind one. A third
// of what a node has places for is kept for addresses of which none hangs.
const maxHanging = 50

// pollAgain is when a poll that finds no place is to come again.
const pollAgain = 5 * time.Second

// connectKey names an address in one of the counts. Each kind has a room of its own in the
// book, so that who fills one with guesses stops nobody who begins or signs in.
func (s *signIn) connectKey(r *http.Request, kind string) string {
	return kind + ":" + httpx.AddressKey(s.ClientIP(r))
}

func (s *signIn) mayBegin(r *http.Request, state string) error {
	ok, retry := s.Attempts.TakeShare(s.connectKey(r, "ticket"), ticketsOfAddress,
		fairshare.From(s.ClientIP(r)), "tickets", ticketsTogether, 1+len(state)/stateOfOne)
	if !ok {
		return refusal.TooMany(retry)
	}
	return nil
}

func (s *signIn) mayScan(r *http.Request) error {
	return s.take(s.connectKey(r, "scan"), scansOfAddress)
}

func (s *signIn) take(key string, rule lockout.Rule) error {
	if ok, retry := s.Attempts.Take(key, rule); !ok {
		return refusal.TooMany(retry)
	}
	return nil
}

// guessed counts a name of a ticket that is none, or not theirs, and gives the answer to
// it. It alone is refused: were all that the address asks, one of the thousands behind it
// would keep the others from signing in.
func (s *signIn) guessed(r *http.Request, answer error) error {
	if err := s.take(s.connectKey(r, "guess"), guessesOfAddress); err != nil {
		return err
	}
	return answer
}
