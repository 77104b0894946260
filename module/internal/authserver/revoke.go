package authserver

import (
	"context"
	"errors"
	"net/http"
	"time"

	"github.com/gatehouse/gatehouse/module/internal/audit"
	"github.com/gatehouse/gatehouse/module/internal/authserver/oauthhttp"
	"github.com/gatehouse/gatehouse/module/internal/authserver/refusal"
	"github.com/gatehouse/gatehouse/module/internal/lockout"
	"github.com/gatehouse/gatehouse/module/internal/token"
	"github.com/gatehouse/gatehouse/module/oauth"
	"github.com/gatehouse/gatehouse/module/store"
)

// What a revocation came to, by the names of [Metrics.Revocation].
const (
	revoked = "revoked"
	nothing = "nothing"
)

// What kind of token was revoked or introspected.
const (
	useAccess  = "access_token"
	useRefresh = "refresh_token"
)

// revocationsOfOne bounds the access tokens that a client revokes for one user, or for
// itself: every guard keeps a notice of each until it has expired, and one that could
// keep no more would refuse everybody.
var revocationsOfOne = lockout.Rule{Limit: 120, Window: time.Minute}

var errForeign = oauth.E(oauth.UnauthorizedClient, "the token was issued to another client")

// revoke is RFC 7009. 200 says that the token is dead for good: it is sent when that is
// durable, and for a token that was dead before or is none of ours, which the client can
// do nothing about (section 2.2). token_type_hint is not needed to tell the kinds apart.
func (t *tokenEndpoint) revoke(w http.ResponseWriter, r *http.Request) {
	outcome, err := t.revocation(w, r)
	if err != nil {
		e := oauthhttp.AsError(err)
		t.s.Metrics.Revocation(string(e.Code))
		t.s.respond.WriteError(w, e)
		return
	}
	t.s.Metrics.Revocation(outcome)
	// Clients ignore the body (section 2.2), but some expect JSON in every answer.
	t.s.respond.WriteJSON(w, http.StatusOK, struct{}{})
}

func (t *tokenEndpoint) revocation(w http.ResponseWriter, r *http.Request) (outcome string, err error) {
	form, err := oauthhttp.ReadForm(r)
	if err != nil {
		return "", err
	}
	client, err := t.clients.Authenticate(r, form, w.Header())
	if err != nil {
		return "", err
	}
	sent := form.Get("token")
	if sent == "" {
		return "", oauth.Parameter("token", "is missing")
	}
	presented, ok, err := t.families.Find(r.Context(), client, sent)
	switch {
	case err != nil:
		return "", oauth.Unavailable(err)
	case ok && presented.Client != client.ID && presented.Alive:
		return "", errForeign
	case ok && presented.Client != client.ID:
		return nothing, nil
	case ok:
		return t.revokeFamily(r.Context(), presented.Grant)
	}
	return t.revokeAccess(r.Context(), client, sent)
}

// revokeFamily takes a refresh token of any generation: whoever asks for the end of what
// an old one began means what it has become (section 2.1).
func (t *tokenEndpoint) revokeFamily(ctx context.Context, g store.Grant) (outcome string, err error) {
	ended, err := t.families.End(ctx, g.ID)
	switch {
	case err != nil:
		return "", oauth.Unavailable(err)
	case !ended:
		return nothing, nil
	}
	t.s.Audit.Record(ctx, audit.Event{
		Name: audit.Revoke, Client: g.Client, Subject: g.Subject, Grant: g.ID, Scopes: g.Scopes, Reason: useRefresh,
	})
	return revoked, nil
}

// revokeAccess kills one access token and nothing else of its grant. It asks Issued, not
// what guards ask: the token of a user who is locked today must be dead when the user is
// let in again.
func (t *tokenEndpoint) revokeAccess(ctx context.Context, client *oauth.Client, sent string) (outcome string, err error) {
	access, err := t.s.Issued.Verify(ctx, sent)
	if early := notYetValid(err); early != nil {
		access, err = early, nil
	}
	switch {
	case errors.Is(err, token.ErrInvalid):
		return nothing, nil
	case err != nil:
		return "", oauth.Unavailable(err)
	case access.Issuer != t.s.issuer:
		return nothing, nil
	case access.Client != client.ID:
		return "", errForeign
	}
	if ok, retry := t.s.Attempts.Take("revoke:"+client.ID+"|"+access.Subject, revocationsOfOne); !ok {
		return "", refusal.TooMany(retry)
	}
	at := t.s.Now()
	if access.IssuedAt.After(at) {
		at = access.IssuedAt // the notice has to outlast the token
	}
	err = t.s.Revocations.Revoke(ctx, store.Revocation{Of: store.RevokeToken, Value: access.ID, At: at})
	if err != nil {
		return "", oauth.Unavailable(err)
	}
	t.s.Audit.Record(ctx, audit.Event{
		Name: audit.Revoke, Client: client.ID, Subject: access.Subject, Grant: access.Grant, Scopes: access.Scopes, Reason: useAccess,
	})
	return revoked, nil
}

// notYetValid returns the content of a genuine token that is refused only because it was issued
// in the future, by the clock of this node; else nil. The node that issued it has another clock,
// and there the token lives: to call it dead would leave it to whoever has it.
func notYetValid(err error) *token.Access {
	refused, ok := errors.AsType[*token.RefusedError](err)
	if !ok || refused.Refusal != token.NotYetValid {
		return nil
	}
	return refused.Access
}
