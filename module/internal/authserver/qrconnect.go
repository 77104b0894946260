package authserver

import (
	"net/http"

	"github.com/gatehouse/gatehouse/module/internal/authserver/page"
	"github.com/gatehouse/gatehouse/module/internal/authserver/query"
	"github.com/gatehouse/gatehouse/module/internal/httpx"
	"github.com/gatehouse/gatehouse/module/oauth"
	"github.com/gatehouse/gatehouse/module/store"
)

// qrGet shows a code to scan: for a request of Variant B a new one, for ?uuid= the one
// that this browser has been given.
func (s *signIn) qrGet(w http.ResponseWriter, r *http.Request) error {
	p, err := query.Parse(r.URL.RawQuery)
	switch {
	case err != nil:
		return err
	case p.Has("uuid"):
		return s.qrAgain(w, r, p)
	}
	return s.qrBegin(w, r)
}

// qrBegin makes a ticket. The one that the browser may have for the same request stays as
// it is and shows nothing here: a request that another site makes the browser send must
// not lead to a number that somebody is about to type.
func (s *signIn) qrBegin(w http.ResponseWriter, r *http.Request) error {
	q, client, p, err := s.connectRequest(r, oauth.VariantBScopes...)
	framed := client != nil && p.Get("login_type") == embedded && len(client.FrameOrigins) > 0
	if err == nil {
		err = s.qrBeginFor(w, r, q, client, p, framed)
	}
	if framed {
		return page.InFrame(err, client)
	}
	return err
}

// qrBeginFor does so for a request that nothing is wrong with.
func (s *signIn) qrBeginFor(w http.ResponseWriter, r *http.Request, q *request, client *oauth.Client, p query.Params, framed bool) (err error) {
	if r.Method == http.MethodHead {
		w.WriteHeader(http.StatusOK)
		return nil
	}
	if !seen(r, framed) {
		return errForbidden
	}
	if err := s.mayBegin(r, q.State); err != nil {
		return page.InLanguage(err, s.Pages.Language(r, q.Locales))
	}
	t := store.Ticket{
		Kind: store.TicketScan, Client: q.Client, RedirectURI: q.RedirectURI, Scopes: q.Scopes, ClientState: q.State,
		Challenge: q.Challenge, Locales: q.Locales, Address: s.ClientIP(r), UserAgent: httpx.UserAgent(r),
	}
	if framed {
		// "default" lets the provider's script find out whether it may touch the window
		// around it; where it says so this has been decided.
		t.Framed, t.TopLevel = true, p.Get("self_redirect") != "true"
	}
	if t.Poller, err = s.newPoller(w, r, t.Framed); err != nil {
		return err
	}
	id, t, err := s.CrossDevice.Begin(r.Context(), t)
	if err != nil {
		return err
	}
	return s.showQR(w, r, qrPage{id: id, ticket: t, client: client})
}

// seen refuses what the browser loads without showing it. Twenty pictures on the page of
// another site would otherwise use up what the address of its visitor may begin.
func seen(r *http.Request, framed bool) bool {
	for _, as := range r.Header.Values("Sec-Fetch-Dest") {
		if as != "document" && !(framed && (as == "iframe" || as == "frame")) {
			return false
		}
	}
	return true
}

// qrAgain shows how a ticket stands, for browsers without script and for those that come
// back; once it is confirmed it sends the browser on.
func (s *signIn) qrAgain(w http.ResponseWriter, r *http.Request, p query.Params) error {
	t, err := s.ownTicket(r, p)
	if err != nil {
		return err
	}
	id := p.Get("uuid")
	if r.Method == http.MethodHead {
		w.WriteHeader(http.StatusOK)
		return nil
	}
	client, err := s.ticketClient(r.Context(), t)
	if err != nil {
		return page.InLanguage(err, s.Pages.Language(r, t.Locales))
	}
	to := page.Callback{URI: t.RedirectURI, State: t.ClientState, VariantB: true}
	show := qrPage{id: id, ticket: t, client: client}
	if t.State == store.TicketConfirmed && !t.Over(s.Now()) {
		code, err := s.deliver(r, id)
		switch {
		case err != nil:
			err = page.InLanguage(err, s.Pages.Language(r, t.Locales))
			if t.Framed {
				err = page.InFrame(err, client)
			}
			return err
		case !t.TopLevel:
			s.page.Answer(w, r, to, "code", code)
			return nil
		}
		show.code = code
	}
	if t.State == store.TicketDenied && !t.TopLevel {
		s.page.Answer(w, r, to, "error", string(oauth.AccessDenied))
		return nil
	}
	return s.showQR(w, r, show)
}
