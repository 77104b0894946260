package qrlogin

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"strconv"
	"time"

	"github.com/gatehouse/gatehouse/module/internal/authserver/query"
	"github.com/gatehouse/gatehouse/module/internal/authserver/refusal"
	"github.com/gatehouse/gatehouse/module/internal/authserver/session"
	"github.com/gatehouse/gatehouse/module/internal/crossdevice"
	"github.com/gatehouse/gatehouse/module/internal/fairshare"
	"github.com/gatehouse/gatehouse/module/internal/httpx"
	"github.com/gatehouse/gatehouse/module/store"
)

// The numbers with which a poll is answered. They look like HTTP statuses and are not.
const (
	pollWaiting   = 408
	pollScanned   = 404
	pollConfirmed = 405
	pollDenied    = 403
	pollExpired   = 402
	pollFault     = 500
)

// pollAnswer is the answer to a poll.
type pollAnswer struct {
	State int    `json:"wx_errcode"`
	Code  string `json:"wx_code"`
}

// maxHanging is how many polls of one address may wait at a time: enough for an office behind one address.
const maxHanging = 50

// pollRetry is the Retry-After of a poll that finds no place.
const pollRetry = 5 * time.Second

// Poll answers the browser that began a ticket as soon as its state is not the one that last says,
// and after a while in any case. The cookie tells which browser began it; for all others the answer
// is 403, whether there is such a ticket or not.
func (e *Endpoint) Poll(w http.ResponseWriter, r *http.Request) {
	p, err := query.Parse(r.URL.RawQuery)
	asJSON := p.Get("f") == "json"
	var answer pollAnswer
	if err == nil {
		answer, err = e.waitForNews(r, p)
	}
	if err != nil {
		e.failPoll(w, r, asJSON, err)
		return
	}
	writePoll(w, http.StatusOK, asJSON, answer)
}

// failPoll is the only place that answers errors of polls.
func (e *Endpoint) failPoll(w http.ResponseWriter, r *http.Request, asJSON bool, err error) {
	if r.Context().Err() != nil { // nobody reads the answer
		return
	}
	refused, ok := refusal.From(err)
	if !ok {
		e.Log.Error("poll not answered", slog.Any("cause", err))
		refused = refusal.Busy(time.Second)
	}
	if refused.RetryAfter > 0 {
		w.Header().Set("Retry-After", strconv.Itoa(refused.RetryAfter))
	}
	writePoll(w, refused.Status, asJSON, pollAnswer{State: pollFault})
}

func (e *Endpoint) waitForNews(r *http.Request, p query.Params) (pollAnswer, error) {
	if !session.FromOwnPage(r) {
		return pollAnswer{}, refusal.Forbid()
	}
	id, last := p.Get("uuid"), store.TicketPending
	switch p.Get("last") {
	case strconv.Itoa(pollScanned):
		last = store.TicketScanned
	case strconv.Itoa(pollFault): // the last answer was an error
		last = ""
	}
	// Before the ticket is read, since polls are answered under overload too.
	address := httpx.AddressKey(e.Tickets.ClientIP(r))
	if err := refusal.Limited(e.Tickets.Attempts.Take("poll:"+address, pollsOfAddress)); err != nil {
		return pollAnswer{}, err
	}
	t, err := e.ownTicket(r, p)
	if err != nil {
		if _, refused := refusal.From(err); !refused { // a fault of the store
			e.Tickets.Attempts.Return("poll:" + address)
		}
		return pollAnswer{}, err
	}
	if t.State == last && !t.Over(e.Now()) {
		if t, err = e.hang(r.Context(), fairshare.From(e.Tickets.ClientIP(r)), id, last); err != nil {
			return pollAnswer{}, err
		}
		if t.State != last {
			e.Tickets.Attempts.Return("poll:" + address) // it led to something
		}
	}
	return e.describe(r, id, t)
}

// hang waits for news of a ticket. It keeps little meanwhile, since some thousand polls hang.
func (e *Endpoint) hang(ctx context.Context, from fairshare.Source, id string, last store.TicketState) (store.Ticket, error) {
	leave, full := e.Hanging.Enter(from, maxHanging)
	switch {
	case full:
		return store.Ticket{}, refusal.Busy(pollRetry)
	case leave == nil:
		return store.Ticket{}, refusal.TooMany(pollRetry)
	}
	defer leave()
	t, err := e.Tickets.Wait(ctx, id, last)
	switch {
	case errors.Is(err, crossdevice.ErrReplaced):
		return t, nil
	case errors.Is(err, crossdevice.ErrGone):
		return t, refusal.Forbid()
	case errors.Is(err, crossdevice.ErrFull):
		return t, refusal.Busy(pollRetry)
	}
	return t, err
}

// describe turns the state of a ticket into a number, with the code once it is confirmed.
func (e *Endpoint) describe(r *http.Request, id string, t store.Ticket) (pollAnswer, error) {
	switch {
	case t.Over(e.Now()):
		return pollAnswer{State: pollExpired}, nil
	case t.State == store.TicketPending:
		return pollAnswer{State: pollWaiting}, nil
	case t.State == store.TicketScanned:
		return pollAnswer{State: pollScanned}, nil
	case t.State == store.TicketDenied:
		return pollAnswer{State: pollDenied}, nil
	}
	code, err := e.deliver(r, id)
	if _, refused := refusal.From(err); refused { // no code will come any more
		return pollAnswer{State: pollExpired}, nil
	}
	return pollAnswer{State: pollConfirmed, Code: code}, err
}

// RefusePlaintext refuses a poll that came without TLS.
func RefusePlaintext(w http.ResponseWriter, r *http.Request) {
	writePoll(w, http.StatusBadRequest, r.URL.Query().Get("f") == "json", pollAnswer{State: pollFault})
}

// writePoll writes an answer as the script that the provider's clients expect, or as JSON. A code
// has no character that needs escaping in either.
func writePoll(w http.ResponseWriter, status int, asJSON bool, a pollAnswer) {
	body, kind := fmt.Appendf(nil, "window.wx_errcode=%d;window.wx_code='%s';", a.State, a.Code), "text/javascript; charset=utf-8"
	if asJSON {
		body, _ = json.Marshal(a) // of a number and a string
		kind = "application/json; charset=utf-8"
	}
	h := w.Header()
	h.Set("Content-Type", kind)
	h.Set("Content-Length", strconv.Itoa(len(body)))
	h.Set("Cross-Origin-Resource-Policy", "same-origin")
	w.WriteHeader(status)
	_, _ = w.Write(body) // fails only when the browser has gone
}
