package authserver

import (
	"net/http"
	"sync"
	"time"

	"github.com/gatehouse/gatehouse/module/internal/attempt"
	"github.com/gatehouse/gatehouse/module/internal/httpx"
	"github.com/gatehouse/gatehouse/module/oauth"
)

// What one address (IPv6: one /64) may do a minute. Without the first anybody fills the
// store with tickets; the second keeps a phone from binding all that are on screens around
// it; the third bounds the load of polls that lead to nothing; and the fourth is for names
// of tickets that nobody has been given: of 2^128 one is found never, but each look costs.
var (
	ticketsOfAddress = attempt.Rule{Limit: 20, Window: time.Minute}
	scansOfAddress   = attempt.Rule{Limit: 30, Window: time.Minute}
	pollsOfAddress   = attempt.Rule{Limit: 240, Window: time.Minute}
	guessesOfAddress = attempt.Rule{Limit: 10, Window: time.Minute}
)

// maxHanging is how many polls of one address hang at a time: an office behind one, but no
// machine that takes the places of everybody.
const maxHanging = 50

// pollAgain is when a poll that finds no place is to come again.
const pollAgain = 5 * time.Second

func tooManyPage(retry time.Duration) *pageError {
	p := page(http.StatusTooManyRequests, "too_many", "")
	p.retryAfter = oauth.Seconds(retry)
	return p
}

// connectKey names an address in one of the counts: "ticket" has a room of its own in the
// book, so that these strangers make nobody forget those at the sign-in.
func (s *signIn) connectKey(r *http.Request, what string) string {
	return "ticket:" + what + "|" + httpx.AddressKey(s.ClientIP(r))
}

func (s *signIn) mayBegin(r *http.Request) error {
	return s.take(s.connectKey(r, "begin"), ticketsOfAddress)
}

func (s *signIn) mayScan(r *http.Request) error {
	return s.take(s.connectKey(r, "scan"), scansOfAddress)
}

func (s *signIn) take(key string, rule attempt.Rule) error {
	if ok, retry := s.Attempts.Take(key, rule); !ok {
		return tooManyPage(retry)
	}
	return nil
}

// mayGuess refuses those who named too many tickets that are none, or not theirs; guessed
// counts one.
func (s *signIn) mayGuess(r *http.Request) error {
	if refused, retry := s.Attempts.Refused(s.connectKey(r, "guess"), guessesOfAddress); refused {
		return tooManyPage(retry)
	}
	return nil
}

func (s *signIn) guessed(r *http.Request) {
	s.Attempts.Take(s.connectKey(r, "guess"), guessesOfAddress)
}

// hanging counts the polls that hang, by address. It holds no more addresses than polls may
// hang.
type hanging struct {
	mu sync.Mutex
	of map[string]int
}

// enter counts one more, of an address, of at most so many. Each that is let in must leave.
func (h *hanging) enter(address string, addresses int) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	n, known := h.of[address]
	switch {
	case n >= maxHanging:
		return tooManyPage(pollAgain)
	case !known && len(h.of) >= addresses:
		return unavailablePage(oauth.Seconds(pollAgain))
	case h.of == nil:
		h.of = make(map[string]int)
	}
	h.of[address] = n + 1
	return nil
}

func (h *hanging) leave(address string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.of[address]--; h.of[address] <= 0 {
		delete(h.of, address)
	}
}
