// Package revocation is the endpoint at which clients revoke their tokens (RFC 7009). It knows neither how clients
// authenticate nor how a grant family is stored.
package revocation

import (
	"context"
	"errors"
	"net/http"
	"time"

	"github.com/gatehouse/gatehouse/module/internal/audit"
	"github.com/gatehouse/gatehouse/module/internal/authserver/grant"
	"github.com/gatehouse/gatehouse/module/internal/authserver/oauthhttp"
	"github.com/gatehouse/gatehouse/module/internal/authserver/refusal"
	"github.com/gatehouse/gatehouse/module/internal/ending"
	"github.com/gatehouse/gatehouse/module/internal/httpx"
	"github.com/gatehouse/gatehouse/module/internal/lockout"
	"github.com/gatehouse/gatehouse/module/internal/token"
	"github.com/gatehouse/gatehouse/module/oauth"
	"github.com/gatehouse/gatehouse/module/store"
)

// The outcomes of a revocation.
const (
	revoked = "revoked"
	nothing = "nothing"
)

// Endpoint is the revocation endpoint, behind client authentication. All fields are needed.
type Endpoint struct {
	// Issuer is the iss of our tokens.
	Issuer   string
	Families *grant.Families
	// Verify decides whether an access token is one of ours, whatever has become of its client and user: the token of
	// a user who is locked today must stay dead when the user is unlocked. Refusals match [token.ErrInvalid]; other
	// errors are technical.
	Verify      func(ctx context.Context, raw string) (*token.Access, error)
	Revocations ending.Revoker
	// Attempts counts revocations, under keys that begin with "revoke:".
	Attempts *lockout.Book
	// Count counts requests; outcome is "revoked", "nothing" (there was nothing to revoke), the error code or "client_gone".
	Count   func(outcome string)
	Audit   audit.Sink
	Respond oauthhttp.Responder
	Now     func() time.Time
}

// perSubject bounds the access tokens that a client revokes for one user or for itself: every guard remembers each
// until it has expired, and a guard without room for more would refuse every request.
var perSubject = lockout.Rule{Limit: 120, Window: time.Minute}

var errForeign = oauth.E(oauth.UnauthorizedClient, "the token was issued to another client")

// Serve answers 200 when the token is dead for good: when its end is durable, and for a token that was dead before or
// is none of ours (RFC 7009 section 2.2). token_type_hint is not needed to tell the kinds apart.
func (t *Endpoint) Serve(w http.ResponseWriter, r *http.Request, client *oauth.Client, form httpx.Form) {
	outcome, err := t.revoke(r.Context(), client, form)
	if err != nil {
		t.Refuse(w, r, form, err)
		return
	}
	t.Count(outcome)
	// Clients ignore the body (section 2.2), but some expect JSON in every answer.
	t.Respond.WriteJSON(w, http.StatusOK, struct{}{})
}

// Refuse answers and counts an error, also one that came before Serve.
func (t *Endpoint) Refuse(w http.ResponseWriter, r *http.Request, _ httpx.Form, err error) {
	t.Count(string(oauthhttp.AnswerTo(r, err).Code))
	t.Respond.WriteError(w, r, err)
}

func (t *Endpoint) revoke(ctx context.Context, client *oauth.Client, form httpx.Form) (outcome string, err error) {
	sent := form.Get("token")
	if sent == "" {
		return "", oauth.Parameter("token", "is missing")
	}
	presented, ok, err := t.Families.Find(ctx, client, sent)
	switch {
	case err != nil:
		return "", oauth.Unavailable(err)
	case ok && presented.Client != client.ID && presented.Alive:
		return "", errForeign
	case ok && presented.Client != client.ID:
		return nothing, nil
	case ok:
		return t.revokeFamily(ctx, presented.Grant)
	}
	return t.revokeAccess(ctx, client, sent)
}

// revokeFamily ends the family of a refresh token of any generation: revoking an old token revokes its successors
// (RFC 7009 section 2.1).
func (t *Endpoint) revokeFamily(ctx context.Context, g store.Grant) (outcome string, err error) {
	ended, err := t.Families.End(ctx, g.ID)
	switch {
	case err != nil:
		return "", oauth.Unavailable(err)
	case !ended:
		return nothing, nil
	}
	t.Audit.Record(ctx, audit.Event{
		Name: audit.Revoke, Client: g.Client, Subject: g.Subject, Grant: g.ID, Scopes: g.Scopes, Reason: "refresh_token",
	})
	return revoked, nil
}

// revokeAccess revokes one access token and nothing else of its grant.
func (t *Endpoint) revokeAccess(ctx context.Context, client *oauth.Client, sent string) (outcome string, err error) {
	access, err := t.Verify(ctx, sent)
	// An earlier request that was answered 503 may have revoked it: that reached the guards, but perhaps no replica of the store,
	// and a failover may have undone it since. So the token is revoked again.
	dead := token.RevokedBefore(err)
	if dead != nil && dead.Issuer == t.Issuer && dead.Client == client.ID {
		access, err = dead, nil
	}
	if elsewhere := token.AliveElsewhere(err, t.Now()); elsewhere != nil {
		access, err = elsewhere, nil
	}
	switch {
	case errors.Is(err, token.ErrInvalid):
		return nothing, nil
	case err != nil:
		return "", oauth.Unavailable(err)
	case access.Issuer != t.Issuer:
		return nothing, nil
	case access.Client != client.ID:
		return "", errForeign
	}
	if err := refusal.Limited(t.Attempts.Take("revoke:"+client.ID+"|"+access.Subject, perSubject)); err != nil {
		return "", err
	}
	at := t.Now()
	if issued := access.IssuedAt.Time(); issued.After(at) {
		at = issued // guards must remember the revocation for as long as the token lives
	}
	err = t.Revocations.Revoke(ctx, store.Revocation{Of: store.RevokeToken, Value: access.ID, At: at, Client: access.Client})
	if err != nil {
		return "", oauth.Unavailable(err)
	}
	if dead != nil {
		return nothing, nil
	}
	t.Audit.Record(ctx, audit.Event{
		Name: audit.Revoke, Client: client.ID, Subject: access.Subject, Grant: access.Grant, Scopes: access.Scopes, Reason: "access_token",
	})
	return revoked, nil
}
