package authserver

import (
	"context"
	"encoding/base64"
	"errors"
	"net/http"

	"github.com/gatehouse/gatehouse/module/internal/authserver/query"
	"github.com/gatehouse/gatehouse/module/internal/authserver/refusal"
	"github.com/gatehouse/gatehouse/module/internal/crossdevice"
	"github.com/gatehouse/gatehouse/module/internal/httpx"
	"github.com/gatehouse/gatehouse/module/internal/secret"
	"github.com/gatehouse/gatehouse/module/oauth"
	"github.com/gatehouse/gatehouse/module/store"
)

// frameCookie is that of a page in a frame of another site, where the browser sends none
// that is for this site alone. What it is for is in no other frame's reach: browsers keep
// one for each site around (Partitioned).
func (s *signIn) frameCookie() string { return s.cookieName(httpx.CookieName + "-frame") }

// newPoller is what the browser that begins a ticket will be known by. It gets a cookie if
// it has none.
func (s *signIn) newPoller(w http.ResponseWriter, r *http.Request, framed bool) (string, error) {
	if !framed {
		b, err := s.welcome(w, r)
		return secret.Digest(b.id), err
	}
	if c, err := r.Cookie(s.frameCookie()); err == nil && secret.IsToken(c.Value) {
		return secret.Digest(c.Value), nil
	}
	id := secret.Token()
	c := &http.Cookie{Name: s.frameCookie(), Value: id, Path: "/", HttpOnly: true, SameSite: http.SameSiteLaxMode}
	if s.https { // else there is no Secure, without which browsers take neither
		c.Secure, c.SameSite, c.Partitioned = true, http.SameSiteNoneMode, true
	}
	http.SetCookie(w, c)
	return secret.Digest(id), nil
}

// polls reports whether a request comes from the browser that began the ticket.
func (s *signIn) polls(r *http.Request, t store.Ticket) bool {
	name := s.browserCookie()
	if t.Framed {
		name = s.frameCookie()
	}
	c, err := r.Cookie(name)
	return err == nil && secret.IsToken(c.Value) && secret.Equal([]byte(secret.Digest(c.Value)), []byte(t.Poller))
}

// ownTicket is the ticket that a browser names, if it began it. For all others there is
// none, whether there is or not: the name stands in a picture that anybody may see.
func (s *signIn) ownTicket(r *http.Request, p query.Params) (store.Ticket, error) {
	id := p.Get("uuid")
	if p.Count("uuid") != 1 || !isTicketID(id) || !s.mayHaveBegun(r) {
		return store.Ticket{}, errForbidden
	}
	t, err := s.CrossDevice.Find(r.Context(), id)
	switch {
	case err != nil && !errors.Is(err, crossdevice.ErrGone):
		return store.Ticket{}, err
	case err != nil, t.Kind != store.TicketScan, !s.polls(r, t):
		return store.Ticket{}, s.guessed(r, errForbidden)
	}
	return t, nil
}

// mayHaveBegun spares the store the questions of those who have no cookie of ours at all.
func (s *signIn) mayHaveBegun(r *http.Request) bool {
	for _, name := range []string{s.browserCookie(), s.frameCookie()} {
		if c, err := r.Cookie(name); err == nil && secret.IsToken(c.Value) {
			return true
		}
	}
	return false
}

// ticketClient is the client of a ticket as it is now, which a reload of the configuration
// may have changed since the ticket was made.
func (s *signIn) ticketClient(ctx context.Context, t store.Ticket) (*oauth.Client, error) {
	gone := refusal.New(http.StatusGone, "gone", "")
	client, ok, err := s.Clients.Client(ctx, t.Client)
	if err != nil {
		return nil, err
	}
	scan := t.Kind == store.TicketScan
	switch {
	case !ok, client.VariantB != scan, t.IssuedAt.Before(client.Since),
		scan && !client.MatchesRedirect(t.RedirectURI),
		!oauth.Subset(t.Scopes, client.Scopes) && !oauth.Subset(t.Scopes, client.DefaultScopes):
		return nil, gone
	case !scan && !client.MayUse(oauth.DeviceCode):
		return nil, gone
	}
	return client, nil
}

// isTicketID reports whether it can be one we made; anything else is not even looked up.
func isTicketID(id string) bool {
	raw, err := base64.RawURLEncoding.Strict().DecodeString(id)
	return err == nil && len(raw) == 16 && len(id) == 22
}
