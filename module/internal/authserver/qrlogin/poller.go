package qrlogin

import (
	"errors"
	"net/http"

	"github.com/gatehouse/gatehouse/module/internal/authserver/confirm"
	"github.com/gatehouse/gatehouse/module/internal/authserver/query"
	"github.com/gatehouse/gatehouse/module/internal/authserver/refusal"
	"github.com/gatehouse/gatehouse/module/internal/crossdevice"
	"github.com/gatehouse/gatehouse/module/internal/secret"
	"github.com/gatehouse/gatehouse/module/store"
)

// newPoller returns what the browser that begins a ticket will be recognized by. The browser gets a
// cookie if it has none.
func (e *Endpoint) newPoller(w http.ResponseWriter, r *http.Request, framed bool) (string, error) {
	if !framed {
		b, err := e.Login.Sessions.Welcome(w, r)
		return secret.Digest(b.ID), err
	}
	if c, err := r.Cookie(e.Login.Sessions.Cookies.Frame()); err == nil && secret.IsToken(c.Value) {
		return secret.Digest(c.Value), nil
	}
	id := secret.Token()
	e.Login.Sessions.Cookies.SetFrame(w, id)
	return secret.Digest(id), nil
}

// began reports whether a request comes from the browser that began the ticket.
func (e *Endpoint) began(r *http.Request, t store.Ticket) bool {
	name := e.Login.Sessions.Cookies.Browser()
	if t.Framed {
		name = e.Login.Sessions.Cookies.Frame()
	}
	c, err := r.Cookie(name)
	return err == nil && secret.IsToken(c.Value) && secret.Equal([]byte(secret.Digest(c.Value)), []byte(t.Poller))
}

// ownTicket returns the ticket that a browser names, if it began it. All others are refused alike,
// whether there is such a ticket or not: its name is in a picture that anybody may see.
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

// hasCookie spares the store the questions of browsers that have no cookie of ours at all.
func (e *Endpoint) hasCookie(r *http.Request) bool {
	for _, name := range []string{e.Login.Sessions.Cookies.Browser(), e.Login.Sessions.Cookies.Frame()} {
		if c, err := r.Cookie(name); err == nil && secret.IsToken(c.Value) {
			return true
		}
	}
	return false
}
