package qrlogin

import (
	"net/http"
	"time"

	"github.com/gatehouse/gatehouse/module/internal/authserver/authcode"
	"github.com/gatehouse/gatehouse/module/internal/authserver/authorize"
	"github.com/gatehouse/gatehouse/module/internal/authserver/confirm"
	"github.com/gatehouse/gatehouse/module/internal/authserver/login"
	"github.com/gatehouse/gatehouse/module/internal/authserver/page"
	"github.com/gatehouse/gatehouse/module/internal/authserver/query"
	"github.com/gatehouse/gatehouse/module/internal/authserver/refusal"
	"github.com/gatehouse/gatehouse/module/internal/fairshare"
	"github.com/gatehouse/gatehouse/module/internal/httpx"
	"github.com/gatehouse/gatehouse/module/internal/lockout"
	"github.com/gatehouse/gatehouse/module/oauth"
	"github.com/gatehouse/gatehouse/module/store"
)

// What one address (IPv6: one /64) may do a minute. Without the first limit anybody could fill the
// store with tickets; the second bounds the load of polls that lead to nothing.
var (
	ticketsOfAddress = lockout.Rule{Limit: 20, Window: time.Minute}
	pollsOfAddress   = lockout.Rule{Limit: 240, Window: time.Minute}
)

// ticketsTogether bounds what many addresses put into the store of a node, where a ticket stays for a quarter of an
// hour, to some hundred megabytes. A long state counts for several tickets: a store writes some of its characters as
// six. The limit is divided among networks (see package fairshare), so that a few do not stop everybody.
var ticketsTogether = lockout.Rule{Limit: 12_000, Window: time.Minute}

const stateOfOne = 512 // bytes

// Endpoint answers the browser that shows a code to scan. All fields are needed.
type Endpoint struct {
	*login.Page
	Requests *authorize.Endpoint
	Tickets  confirm.Tickets
	Codes    authcode.Codes
	// CodeLife is how long a code can be redeemed after its delivery.
	CodeLife time.Duration
	// Hanging has the places for polls that wait.
	Hanging *fairshare.Places
}

// Get shows a code to scan: for a request of Variant B a new one, for ?uuid= the one that this
// browser has been given.
func (e *Endpoint) Get(w http.ResponseWriter, r *http.Request) error {
	p, err := query.Parse(r.URL.RawQuery)
	switch {
	case err != nil:
		return err
	case p.Has("uuid"):
		return e.showTicket(w, r, p)
	}
	return e.begin(w, r)
}

// begin makes a ticket. One that the browser may have for the same request stays as it is and is not shown here: a
// request that another site makes the browser send must not lead to a number that somebody is about to type.
func (e *Endpoint) begin(w http.ResponseWriter, r *http.Request) error {
	q, client, p, err := e.Requests.ReadConnect(r, oauth.VariantBScopes...)
	framed := client != nil && p.Get("login_type") == authorize.Embedded && len(client.FrameOrigins) > 0
	if err == nil {
		err = e.newTicket(w, r, q, client, p, framed)
	}
	if framed {
		return page.InFrame(err, client)
	}
	return err
}

// newTicket makes a ticket for a request that was checked.
func (e *Endpoint) newTicket(w http.ResponseWriter, r *http.Request, q *authorize.Request, client *oauth.Client, p query.Params, framed bool) (err error) {
	if r.Method == http.MethodHead {
		w.WriteHeader(http.StatusOK)
		return nil
	}
	if !isShown(r, framed) {
		return refusal.Forbid()
	}
	if err := e.countTicket(r, q.State); err != nil {
		return page.InLanguage(err, e.Pages.Language(r, q.Locales))
	}
	t := store.Ticket{
		Kind: store.TicketScan, Client: q.Client, RedirectURI: q.RedirectURI, Scopes: q.Scopes, ClientState: q.State,
		Challenge: q.Challenge, Locales: q.Locales, Address: e.Tickets.ClientIP(r), UserAgent: httpx.UserAgent(r),
	}
	if framed {
		// With "default" the provider's script finds out whether it may touch the window around
		// it; a page that sends it has decided.
		t.Framed, t.TopLevel = true, p.Get("self_redirect") != "true"
	}
	if t.Poller, err = e.newPoller(w, r, t.Framed); err != nil {
		return err
	}
	id, t, err := e.Tickets.Begin(r.Context(), t)
	if err != nil {
		return err
	}
	return e.show(w, r, qrPage{id: id, ticket: t, client: client})
}

func (e *Endpoint) countTicket(r *http.Request, state string) error {
	return refusal.Limited(e.Tickets.Attempts.TakeShare(e.Tickets.CountKey(r, "ticket"), ticketsOfAddress,
		fairshare.From(e.Tickets.ClientIP(r)), "tickets", ticketsTogether, 1+len(state)/stateOfOne))
}

// isShown is false for requests whose response the browser does not show. Otherwise twenty images on the page of another
// site would use up the tickets that the visitor's address may begin.
func isShown(r *http.Request, framed bool) bool {
	for _, as := range r.Header.Values("Sec-Fetch-Dest") {
		if as != "document" && !(framed && (as == "iframe" || as == "frame")) {
			return false
		}
	}
	return true
}

// showTicket shows the state of a ticket to browsers without JavaScript and to those that return. Once the ticket is
// confirmed it redirects the browser to the client.
func (e *Endpoint) showTicket(w http.ResponseWriter, r *http.Request, p query.Params) error {
	t, err := e.ownTicket(r, p)
	if err != nil {
		return err
	}
	id := p.Get("uuid")
	if r.Method == http.MethodHead {
		w.WriteHeader(http.StatusOK)
		return nil
	}
	client, err := e.Tickets.ClientOf(r.Context(), t)
	if err != nil {
		return page.InLanguage(err, e.Pages.Language(r, t.Locales))
	}
	to := page.Callback{URI: t.RedirectURI, State: t.ClientState, VariantB: true}
	show := qrPage{id: id, ticket: t, client: client}
	if t.State == store.TicketConfirmed && !t.Over(e.Now()) {
		code, err := e.deliver(r, id)
		switch {
		case err != nil:
			err = page.InLanguage(err, e.Pages.Language(r, t.Locales))
			if t.Framed {
				err = page.InFrame(err, client)
			}
			return err
		case !t.TopLevel:
			e.Answer(w, r, to, "code", code)
			return nil
		}
		show.code = code
	}
	if t.State == store.TicketDenied && !t.TopLevel {
		e.Answer(w, r, to, "error", string(oauth.AccessDenied))
		return nil
	}
	return e.show(w, r, show)
}
