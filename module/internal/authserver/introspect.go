package authserver

import (
	"cmp"
	"context"
	"errors"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/gatehouse/gatehouse/module/internal/authserver/clientauth"
	"github.com/gatehouse/gatehouse/module/internal/authserver/oauthhttp"
	"github.com/gatehouse/gatehouse/module/internal/authserver/refusal"
	"github.com/gatehouse/gatehouse/module/internal/ending"
	"github.com/gatehouse/gatehouse/module/internal/httpx"
	"github.com/gatehouse/gatehouse/module/internal/lockout"
	"github.com/gatehouse/gatehouse/module/internal/token"
	"github.com/gatehouse/gatehouse/module/oauth"
	"github.com/gatehouse/gatehouse/module/store"
)

// introspection is RFC 7662 section 2.2. Its zero value is exactly {"active":false}, which
// says nothing about why.
type introspection struct {
	Active    bool   `json:"active"`
	Scope     string `json:"scope,omitempty"`
	Client    string `json:"client_id,omitempty"`
	TokenType string `json:"token_type,omitempty"`
	// TokenUse is access_token or refresh_token. A resource server that takes the one for
	// the other lets in what was never meant for it.
	TokenUse string `json:"token_use,omitempty"`
	Expires  int64  `json:"exp,omitempty"` // Unix seconds
	IssuedAt int64  `json:"iat,omitempty"`
	Subject  string `json:"sub,omitempty"`
	Audience any    `json:"aud,omitempty"` // a string, or several in an array, as in the token
	Issuer   string `json:"iss,omitempty"`
	ID       string `json:"jti,omitempty"`
}

// introspect is RFC 7662.
func (t *tokenEndpoint) introspect(w http.ResponseWriter, r *http.Request) {
	client, form, err := t.resourceServer(r, w.Header())
	if err == nil && client.IntrospectByStatus {
		t.introspectByStatus(w, r, client, form)
		return
	}
	var answer introspection
	if err == nil {
		answer, err = t.introspection(r, client, form.Get("token"))
	}
	if err != nil {
		e := oauthhttp.AsError(err)
		t.s.Metrics.Introspection(string(e.Code))
		t.s.respond.WriteError(w, e)
		return
	}
	outcome := "inactive"
	if answer.Active {
		outcome = "active"
	}
	t.s.Metrics.Introspection(outcome)
	t.s.respond.WriteJSON(w, http.StatusOK, answer)
}

// resourceServer authenticates the client that asks (RFC 7662 section 2.1).
func (t *tokenEndpoint) resourceServer(r *http.Request, answer http.Header) (*oauth.Client, httpx.Form, error) {
	form, err := oauthhttp.ReadForm(r)
	if err != nil {
		return nil, form, err
	}
	client, err := t.clients.Authenticate(r, form, answer)
	if err != nil {
		return nil, form, err
	}
	if client.Public {
		// Anybody can send a public client's id: this would answer whoever found a token.
		answer.Set("WWW-Authenticate", clientauth.Challenge)
		return nil, form, oauth.E(oauth.InvalidClient, "a public client cannot introspect tokens")
	}
	return client, form, nil
}

func (t *tokenEndpoint) introspection(r *http.Request, client *oauth.Client, sent string) (introspection, error) {
	if sent == "" {
		return introspection{}, oauth.Parameter("token", "is missing")
	}
	answer, guess, err := t.look(r.Context(), client, sent)
	if err != nil || !guess {
		return answer, err
	}
	// Only guesses are limited: if a few of them stopped every answer, whoever sends
	// rubbish to a resource server could stop that server too.
	key := "introspect:" + client.ID + "|" + httpx.AddressKey(t.s.ClientIP(r))
	if ok, retry := t.s.Attempts.Take(key, lockout.Rule{Limit: t.s.Protect.ClientFailures, Window: time.Minute}); !ok {
		return introspection{}, oauth.TooMany("too many unknown tokens, try again later", retry)
	}
	return introspection{}, nil
}

// look says what the client may know about a token. guess tells a string that is no
// token of ours, or none the client may ask about, from one that has merely died: of those
// an honest resource server sees many. Errors are *oauth.Error.
func (t *tokenEndpoint) look(ctx context.Context, c *oauth.Client, sent string) (answer introspection, guess bool, err error) {
	presented, ok, err := t.families.Find(ctx, c, sent)
	switch {
	case err != nil:
		return answer, false, oauth.Unavailable(err)
	case ok && presented.Client != c.ID:
		return answer, true, nil
	case ok:
		if !presented.Alive || !c.MayUse(oauth.RefreshToken) {
			return answer, false, nil
		}
		active, err := t.activeSubject(ctx, presented.Subject)
		if err != nil || !active {
			return answer, false, err
		}
		return introspection{
			Active: true, Scope: oauth.JoinScopes(presented.Scopes), Client: c.ID, TokenUse: useRefresh,
			Expires: presented.Ends.Unix(), IssuedAt: presented.RotatedAt.Unix(), Subject: presented.Subject,
			Issuer: t.s.issuer,
		}, false, nil
	}
	access, guess, err := t.liveAccessToken(ctx, sent, func(a *token.Access) bool { return t.mayKnow(c, a) })
	if access == nil {
		return answer, guess, err
	}
	return t.describe(access), false, nil
}

// liveAccessToken is what an access token contains that is valid now and that mayKnow admits;
// nil when there is none. guess is that of look. Errors are *oauth.Error.
func (t *tokenEndpoint) liveAccessToken(ctx context.Context, sent string, mayKnow func(*token.Access) bool) (live *token.Access, guess bool, err error) {
	access, err := t.s.Verifier.Verify(ctx, sent)
	switch {
	case errors.Is(err, token.ErrOver):
		return nil, false, nil
	case errors.Is(err, token.ErrInvalid):
		return nil, true, nil
	case err != nil:
		return nil, false, oauth.Unavailable(err)
	case access.Issuer != t.s.issuer || !mayKnow(access):
		return nil, true, nil
	}
	alive, err := t.standing(ctx, access)
	if err != nil || !alive {
		return nil, false, err
	}
	return access, false, nil
}

// describe is the answer about a living access token.
func (t *tokenEndpoint) describe(a *token.Access) introspection {
	return introspection{
		Active: true, Scope: oauth.JoinScopes(a.Scopes), Client: a.Client, TokenType: "Bearer", TokenUse: useAccess,
		Expires: a.Expires.Unix(), IssuedAt: a.IssuedAt.Unix(), Subject: cmp.Or(a.Pairwise, a.Subject),
		Audience: token.AudienceClaim(a.Audience), Issuer: a.Issuer, ID: a.ID,
	}
}

// mayKnow decides whose tokens a client may ask about: its own, and those meant for it if
// it is configured as a resource server.
func (t *tokenEndpoint) mayKnow(c *oauth.Client, a *token.Access) bool {
	return a.Client == c.ID || c.Introspect && t.meantFor(c, a)
}

// meantFor reports whether one of a client's audiences is among a token's.
func (t *tokenEndpoint) meantFor(c *oauth.Client, a *token.Access) bool {
	own := t.s.audiences.Of(c)
	return slices.ContainsFunc(a.Audience, func(aud string) bool { return slices.Contains(own, aud) })
}

// standing asks the store and the directory what the verifier may not have heard yet, or
// cannot know: so the answer is never older than the question, and without the store
// there is none.
func (t *tokenEndpoint) standing(ctx context.Context, a *token.Access) (bool, error) {
	_, err := t.s.Store.Get(ctx, store.Revocation{Of: store.RevokeToken, Value: a.ID}.Key())
	if !errors.Is(err, store.ErrNotFound) {
		return false, refusal.OrUnavailable(err)
	}
	if a.Grant != "" {
		ended, err := ending.Ended(ctx, t.s.Store, a.Subject, a.Client, a.Epochs)
		if err != nil || ended {
			return false, refusal.OrUnavailable(err)
		}
		dead, err := t.families.Revoked(ctx, a.Grant)
		if err != nil || dead {
			return false, refusal.OrUnavailable(err)
		}
	}
	if _, known, err := t.s.Clients.Client(ctx, a.Client); err != nil || !known {
		return false, refusal.OrUnavailable(err)
	}
	return t.activeSubject(ctx, a.Subject)
}

// activeSubject reports whether the user is there and not locked. A client that acts for
// itself has none to ask about.
func (t *tokenEndpoint) activeSubject(ctx context.Context, subject string) (bool, error) {
	if strings.HasPrefix(subject, token.ClientSubject) {
		return true, nil
	}
	user, ok, err := t.s.Directory.Lookup(ctx, subject)
	return err == nil && ok && !user.Locked, refusal.OrUnavailable(err)
}
