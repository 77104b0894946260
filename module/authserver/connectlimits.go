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
// of tickets that nobody has been given.
var (
	ticketsOfAddress = attempt.Rule{Limit: 20, Window: time.Minute}
	scansOfAddress   = attempt.Rule{Limit: 30, Window: time.Minute}
	pollsOfAddress   = attempt.Rule{Limit: 240, Window: time.Minute}
	guessesOfAddress = attempt.Rule{Limit: 10, Window: time.Minute}
)

// ticketsTogether bounds what many addresses put into the store of a node, where a ticket
// stands for a quarter of an hour, to some hundred megabytes. A state that is long counts
// for several: a store writes some characters of it as six.
var ticketsTogether = attempt.Rule{Limit: 12_000, Window: time.Minute}

const stateOfOne = 512 // bytes

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

func (s *signIn) mayBegin(r *http.Request, state string) error {
	if err := s.take(s.connectKey(r, "begin"), ticketsOfAddress); err != nil {
		return err
	}
	for range 1 + len(state)/stateOfOne {
		if err := s.take("ticket:begin", ticketsTogether); err != nil {
			return err
		}
	}
	return nil
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

// guessed counts a name of a ticket that is none, or not theirs, and gives the answer to
// it. It alone is refused: were all that the address asks, one of the thousands behind it
// would keep the others from signing in.
func (s *signIn) guessed(r *http.Request, answer error) error {
	if err := s.take(s.connectKey(r, "guess"), guessesOfAddress); err != nil {
		return err
	}
	return answer
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
