package qrlogin

import (
	"errors"
	"net/http"
	"slices"

	"github.com/gatehouse/gatehouse/module/internal/authserver/confirm"
	"github.com/gatehouse/gatehouse/module/internal/authserver/query"
	"github.com/gatehouse/gatehouse/module/internal/authserver/refusal"
	"github.com/gatehouse/gatehouse/module/internal/crossdevice"
	"github.com/gatehouse/gatehouse/module/internal/secret"
	"github.com/gatehouse/gatehouse/module/store"
)

// newPoller returns the digest of the cookie by which the browser that begins a ticket will be recognized. The browser
// gets a cookie if it has none.
func (e *Endpoint) newPoller(w http.ResponseWriter, r *http.Request, framed bool) (string, error) {
	if !framed {
		b, err := e.Welcome(w, r)
		return secret.Digest(b.ID), err
	}
	ids := e.Cookies().FrameIDs(r)
	if len(ids) == 0 {
		ids = []string{e.Cookies().NewFrame(w)}
	}
	return secret.Digest(ids[0]), nil
}

// began reports whether a request comes from the browser that began the ticket.
func (e *Endpoint) began(r *http.Request, t store.Ticket) bool {
	ids := e.Cookies().BrowserIDs(r)
	if t.Framed {
		ids = e.Cookies().FrameIDs(r)
	}
	return slices.ContainsFunc(ids, func(id string) bool {
		return secret.Equal([]byte(secret.Digest(id)), []byte(t.Poller))
	})
}

// ownTicket returns the ticket that a browser names, if it began it. All others are refused alike, whether there is such
// a ticket or not: its id is in a picture that anybody may see.
func (e *Endpoint) ownTicket(r *http.Request, p query.Params) (store.Ticket, error) {
	id := p.Get("uuid")
	if p.Count("uuid") != 1 || !confirm.IsTicketID(id) || !e.hasCookie(r) {
		return store.Ticket{}, refusal.Forbid()
	}
	t, err := e.Tickets.Find(r.Context(), id)
	switch {
	case err != nil && !errors.Is(err, crossdevice.ErrGone):
		return store.Ticket{}, err
	case err != nil, t.Kind != store.TicketScan, !e.began(r, t):
		return store.Ticket{}, e.Tickets.CountGuess(r, refusal.Forbid())
	}
	return t, nil
}

// hasCookie reports whether a browser has a cookie that could have begun a ticket. Without one, the store is not read.
func (e *Endpoint) hasCookie(r *http.Request) bool {
	return len(e.Cookies().BrowserIDs(r)) > 0 || len(e.Cookies().FrameIDs(r)) > 0
}
