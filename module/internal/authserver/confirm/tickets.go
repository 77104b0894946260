package confirm

import (
	"context"
	"encoding/base64"
	"net/http"
	"time"

	"github.com/gatehouse/gatehouse/module/internal/authserver/refusal"
	"github.com/gatehouse/gatehouse/module/internal/authserver/session"
	"github.com/gatehouse/gatehouse/module/internal/crossdevice"
	"github.com/gatehouse/gatehouse/module/internal/httpx"
	"github.com/gatehouse/gatehouse/module/internal/lockout"
	"github.com/gatehouse/gatehouse/module/internal/secret"
	"github.com/gatehouse/gatehouse/module/oauth"
	"github.com/gatehouse/gatehouse/module/store"
)

// guessesOfAddress bounds, for one address (IPv6: one /64), the names of tickets that nobody gave it.
var guessesOfAddress = lockout.Rule{Limit: 10, Window: time.Minute}

const useTicketCode = "ticket code" // of the keys' secret

// Tickets has what both devices need to know about a ticket. All fields are needed.
type Tickets struct {
	*crossdevice.Tickets
	Clients  session.Clients
	Attempts *lockout.Book
	ClientIP func(*http.Request) string
}

// CountGuess counts an unknown ticket id, or one that belongs to another browser, and returns the answer to it. Only
// guesses are refused: otherwise one of the thousands of people behind an address could keep the others from signing
// in.
func (t Tickets) CountGuess(r *http.Request, answer error) error {
	if err := refusal.Limited(t.Attempts.Take(t.CountKey(r, "guess"), guessesOfAddress)); err != nil {
		return err
	}
	return answer
}

// CountKey is the key of a request's address in one kind of count. The book bounds each kind separately, so that
// filling one with guesses stops nobody else.
func (t Tickets) CountKey(r *http.Request, kind string) string {
	return kind + ":" + httpx.AddressKey(t.ClientIP(r))
}

// ClientOf returns the client of a ticket as it is now. A ticket whose client may no longer have it,
// because a reload changed the configuration, is gone.
func (t Tickets) ClientOf(ctx context.Context, ticket store.Ticket) (*oauth.Client, error) {
	client, ok, err := t.Clients.Client(ctx, ticket.Client)
	if err != nil {
		return nil, err
	}
	scan := ticket.Kind == store.TicketScan
	switch {
	case !ok, client.VariantB != scan, ticket.IssuedAt.Before(client.Since),
		scan && !client.MatchesRedirect(ticket.RedirectURI),
		!oauth.Subset(ticket.Scopes, client.Scopes) && !oauth.Subset(ticket.Scopes, client.DefaultScopes):
		return nil, errGone()
	case !scan && !client.MayUse(oauth.DeviceCode):
		return nil, errGone()
	}
	return client, nil
}

func errGone() error  { return refusal.New(http.StatusGone, "gone", "") }
func errTaken() error { return refusal.New(http.StatusConflict, "taken", "") }

// IsTicketID reports whether id has the form of a ticket id. Other strings are not looked up.
func IsTicketID(id string) bool {
	raw, err := base64.RawURLEncoding.Strict().DecodeString(id)
	return err == nil && len(raw) == 16 && len(id) == 22
}

// TicketCode is the authorization code of a confirmed ticket. It is the same at every node.
func TicketCode(keys *secret.Keys, id, subject string) string {
	return base64.RawURLEncoding.EncodeToString(keys.MAC(useTicketCode, []byte(id), []byte(subject)))
}
