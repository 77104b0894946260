package authserver

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"strconv"

	"github.com/gatehouse/gatehouse/module/internal/authserver/oauthhttp"
	"github.com/gatehouse/gatehouse/module/internal/authserver/query"
	"github.com/gatehouse/gatehouse/module/internal/authserver/refusal"
	"github.com/gatehouse/gatehouse/module/internal/crossdevice"
	"github.com/gatehouse/gatehouse/module/internal/fairshare"
	"github.com/gatehouse/gatehouse/module/internal/httpx"
	"github.com/gatehouse/gatehouse/module/store"
)

// The numbers with which a poll is answered. They look like statuses of HTTP and are none.
const (
	pollWaiting   = 408
	pollScanned   = 404
	pollConfirmed = 405
	pollDenied    = 403
	pollExpired   = 402
	pollFault     = 500
)

// pollAnswer is the body of one.
type pollAnswer struct {
	State int    `json:"wx_errcode"`
	Code  string `json:"wx_code"`
}

// poll answers the browser that began a ticket as soon as it stands otherwise than last
// says, and after a while in any case. Who began it is told by the cookie; for all others
// the answer is 403, whether there is such a ticket or not.
func (s *signIn) poll(w http.ResponseWriter, r *http.Request) {
	p, refused := query.Parse(r.URL.RawQuery)
	asJSON := p.Get("f") == "json"
	if refused != nil {
		writePoll(w, oauthhttp.AsError(refused).Status, asJSON, pollAnswer{State: pollFault})
		return
	}
	answer, err := s.pollNews(r, p)
	if err == nil {
		writePoll(w, http.StatusOK, asJSON, answer)
		return
	}
	if r.Context().Err() != nil { // nobody hears it
		return
	}
	status := http.StatusServiceUnavailable
	if e, ok := refusal.From(err); ok {
		if status = e.Status; e.RetryAfter > 0 {
			w.Header().Set("Retry-After", strconv.Itoa(e.RetryAfter))
		}
	} else {
		s.Log.Error("poll not answered", slog.Any("cause", err))
		w.Header().Set("Retry-After", "1")
	}
	writePoll(w, status, asJSON, pollAnswer{State: pollFault})
}

func (s *signIn) pollNews(r *http.Request, p query.Params) (pollAnswer, error) {
	if !fromOwnPage(r) {
		return pollAnswer{}, errForbidden
	}
	id, last := p.Get("uuid"), store.TicketPending
	switch p.Get("last") {
	case strconv.Itoa(pollScanned):
		last = store.TicketScanned
	case strconv.Itoa(pollFault): // who was told nothing is told how it stands
		last = ""
	}
	// Before the ticket is read, since polls are answered under overload too.
	address := httpx.AddressKey(s.ClientIP(r))
	if err := s.take("poll:"+address, pollsOfAddress); err != nil {
		return pollAnswer{}, err
	}
	t, err := s.ownTicket(r, p)
	if err != nil {
		if _, refused := refusal.From(err); !refused { // a fault of the store
			s.Attempts.Return("poll:" + address)
		}
		return pollAnswer{}, err
	}
	if t.State == last && !t.Over(s.Now()) {
		if t, err = s.hang(r.Context(), fairshare.From(s.ClientIP(r)), id, last); err != nil {
			return pollAnswer{}, err
		}
		if t.State != last {
			s.Attempts.Return("poll:" + address) // it led to something
		}
	}
	return s.tell(r, id, t)
}

// hang waits for news of a ticket. What is kept meanwhile is kept some thousand times, so
// it is little.
func (s *signIn) hang(ctx context.Context, from fairshare.Source, id string, last store.TicketState) (store.Ticket, error) {
	leave, full := s.hanging.Enter(from, maxHanging)
	switch {
	case full:
		return store.Ticket{}, refusal.Busy(pollAgain)
	case leave == nil:
		return store.Ticket{}, refusal.TooMany(pollAgain)
	}
	defer leave()
	t, err := s.CrossDevice.Wait(ctx, id, last)
	switch {
	case errors.Is(err, crossdevice.ErrReplaced):
		return t, nil
	case errors.Is(err, crossdevice.ErrGone):
		return t, errForbidden
	case errors.Is(err, crossdevice.ErrFull):
		return t, refusal.Busy(pollAgain)
	}
	return t, err
}

// tell puts into a number how a ticket stands, and gives the code to whom it is for.
func (s *signIn) tell(r *http.Request, id string, t store.Ticket) (pollAnswer, error) {
	switch {
	case t.Over(s.Now()):
		return pollAnswer{State: pollExpired}, nil
	case t.State == store.TicketPending:
		return pollAnswer{State: pollWaiting}, nil
	case t.State == store.TicketScanned:
		return pollAnswer{State: pollScanned}, nil
	case t.State == store.TicketDenied:
		return pollAnswer{State: pollDenied}, nil
	}
	code, err := s.deliver(r, id)
	if _, refused := refusal.From(err); refused { // no code will come any more
		return pollAnswer{State: pollExpired}, nil
	}
	return pollAnswer{State: pollConfirmed, Code: code}, err
}

// fromOwnPage is false for what a page of another site makes the browser send: a script
// that it loads as one of its own, where our cookie goes along in every frame, or a link. An
// address that was typed, or read by a camera, comes from no page.
func fromOwnPage(r *http.Request) bool {
	for _, site := range r.Header.Values("Sec-Fetch-Site") {
		if site != "same-origin" && site != "none" {
			return false
		}
	}
	return true
}

// refusePlaintextPoll refuses a poll that came without TLS.
func refusePlaintextPoll(w http.ResponseWriter, r *http.Request) {
	writePoll(w, http.StatusBadRequest, r.URL.Query().Get("f") == "json", pollAnswer{State: pollFault})
}

// writePoll writes an answer as the script it is in the provider's words, or as JSON. A
// code has no character that needs escaping in either.
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
