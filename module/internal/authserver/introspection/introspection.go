// Package introspection is the endpoint at which resource servers ask about tokens (RFC 7662), with JSON answers or
// with statuses for gateways. It knows neither how clients authenticate nor how tokens are made.
package introspection

import (
	"cmp"
	"context"
	"errors"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/gatehouse/gatehouse/module/directory"
	"github.com/gatehouse/gatehouse/module/internal/authserver/audience"
	"github.com/gatehouse/gatehouse/module/internal/authserver/clientauth"
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

// Endpoint is the introspection endpoint, behind client authentication. All fields are needed.
type Endpoint struct {
	// Issuer is the iss of our tokens.
	Issuer    string
	Audiences audience.Config
	Families  *grant.Families
	// Verify decides whether a string is an access token that is alive, as far as this node knows. Refusals match
	// [token.ErrInvalid]; other errors are technical.
	Verify func(ctx context.Context, raw string) (*token.Access, error)
	// FindClient returns false for an unknown client; errors are technical.
	FindClient func(ctx context.Context, id string) (c *oauth.Client, ok bool, err error)
	Users      directory.Directory
	// Store has the revocations that Verify may not know yet.
	Store store.Backend
	// Attempts counts unknown tokens, under keys that begin with "introspect:".
	Attempts *lockout.Book
	// Guesses is how many unknown tokens a minute one client may send from one address.
	Guesses int
	// Count counts requests; outcome is "active", "inactive", the error code or "client_gone".
	Count   func(outcome string)
	Respond oauthhttp.Responder
	// ClientIP is the address of the sender, without port.
	ClientIP func(*http.Request) string
}

// answer is RFC 7662 section 2.2. Its zero value is exactly {"active":false}, which says nothing about why.
type answer struct {
	Active    bool   `json:"active"`
	Scope     string `json:"scope,omitempty"`
	Client    string `json:"client_id,omitempty"`
	TokenType string `json:"token_type,omitempty"`
	// TokenUse is access_token or refresh_token. A resource server that mistakes one for the other lets in what was
	// never meant for it.
	TokenUse string `json:"token_use,omitempty"`
	Expires  int64  `json:"exp,omitempty"` // Unix seconds
	IssuedAt int64  `json:"iat,omitempty"`
	Subject  string `json:"sub,omitempty"`
	Audience any    `json:"aud,omitempty"` // a string, or several in an array, as in the token
	Issuer   string `json:"iss,omitempty"`
	ID       string `json:"jti,omitempty"`
}

// Serve answers a client that is authenticated.
func (t *Endpoint) Serve(w http.ResponseWriter, r *http.Request, client *oauth.Client, form httpx.Form) {
	switch {
	case client.Public:
		// Anybody can send a public client's id: this would serve whoever found a token.
		w.Header().Set("WWW-Authenticate", clientauth.Challenge)
		t.Refuse(w, r, form, oauth.E(oauth.InvalidClient, "a public client cannot introspect tokens"))
		return
	case client.IntrospectByStatus:
		t.serveByStatus(w, r, client, form)
		return
	}
	told, err := t.introspect(r, client, form.Get("token"))
	if err != nil {
		t.Refuse(w, r, form, err)
		return
	}
	outcome := "inactive"
	if told.Active {
		outcome = "active"
	}
	t.Count(outcome)
	t.Respond.WriteJSON(w, http.StatusOK, told)
}

// Refuse answers and counts an error, also one that came before Serve.
func (t *Endpoint) Refuse(w http.ResponseWriter, r *http.Request, _ httpx.Form, err error) {
	t.Count(string(oauthhttp.AnswerTo(r, err).Code))
	t.Respond.WriteError(w, r, err)
}

func (t *Endpoint) introspect(r *http.Request, client *oauth.Client, sent string) (answer, error) {
	if sent == "" {
		return answer{}, oauth.Parameter("token", "is missing")
	}
	told, guess, err := t.describe(r.Context(), client, sent)
	if err != nil || !guess {
		return told, err
	}
	// Only guesses are limited: if they stopped every answer, anybody could stop a resource server by sending it
	// invalid tokens.
	key := "introspect:" + client.ID + "|" + httpx.AddressKey(t.ClientIP(r))
	if ok, retry := t.Attempts.Take(key, lockout.Rule{Limit: t.Guesses, Window: time.Minute}); !ok {
		return answer{}, oauth.TooMany("too many unknown tokens, try again later", retry)
	}
	return answer{}, nil
}

// describe returns what the client may know about a token. guess is true for a string that is not a token of ours or
// not one that the client may ask about, and false for a token that has merely died, which honest resource servers
// see often. Errors are [oauth.Error].
func (t *Endpoint) describe(ctx context.Context, c *oauth.Client, sent string) (told answer, guess bool, err error) {
	presented, ok, err := t.Families.Find(ctx, c, sent)
	switch {
	case err != nil:
		return told, false, oauth.Unavailable(err)
	case ok && presented.Client != c.ID:
		return told, true, nil
	case ok:
		if !presented.Alive || !c.MayUse(oauth.RefreshToken) {
			return told, false, nil
		}
		active, err := t.activeSubject(ctx, presented.Subject)
		if err != nil || !active {
			return told, false, err
		}
		return answer{
			Active: true, Scope: oauth.JoinScopes(presented.Scopes), Client: c.ID, TokenUse: "refresh_token",
			Expires: presented.Ends.Unix(), IssuedAt: presented.RotatedAt.Unix(), Subject: presented.Subject,
			Issuer: t.Issuer,
		}, false, nil
	}
	access, guess, err := t.liveAccessToken(ctx, sent, func(a *token.Access) bool { return t.mayKnow(c, a) })
	if access == nil {
		return told, guess, err
	}
	return describeAccess(access), false, nil
}

// liveAccessToken returns an access token that is alive and that mayKnow admits, nil if the string is no such token.
// guess is that of describe. Errors are [oauth.Error].
func (t *Endpoint) liveAccessToken(ctx context.Context, sent string, mayKnow func(*token.Access) bool) (live *token.Access, guess bool, err error) {
	access, err := t.Verify(ctx, sent)
	switch {
	case errors.Is(err, token.ErrOver):
		return nil, false, nil
	case errors.Is(err, token.ErrInvalid):
		return nil, true, nil
	case err != nil:
		return nil, false, oauth.Unavailable(err)
	case access.Issuer != t.Issuer || !mayKnow(access):
		return nil, true, nil
	}
	alive, err := t.isAlive(ctx, access)
	if err != nil || !alive {
		return nil, false, err
	}
	return access, false, nil
}

// describeAccess is the answer about an access token that is alive.
func describeAccess(a *token.Access) answer {
	return answer{
		Active: true, Scope: oauth.JoinScopes(a.Scopes), Client: a.Client, TokenType: "Bearer", TokenUse: "access_token",
		Expires: a.Expires.Unix(), IssuedAt: int64(a.IssuedAt), Subject: cmp.Or(a.Pairwise, a.Subject),
		Audience: token.AudienceClaim(a.Audience), Issuer: a.Issuer, ID: a.ID,
	}
}

// mayKnow decides which tokens a client may ask about: its own, and if it is configured as a resource server those
// meant for it.
func (t *Endpoint) mayKnow(c *oauth.Client, a *token.Access) bool {
	return a.Client == c.ID || c.Introspect && t.meantFor(c, a)
}

// meantFor reports whether one of a client's audiences is among a token's.
func (t *Endpoint) meantFor(c *oauth.Client, a *token.Access) bool {
	own := t.Audiences.Of(c)
	return slices.ContainsFunc(a.Audience, func(aud string) bool { return slices.Contains(own, aud) })
}

// isAlive asks store and directory for what the verifier may not know yet or cannot know. So the answer is never
// older than the question, and without the store there is none.
func (t *Endpoint) isAlive(ctx context.Context, a *token.Access) (bool, error) {
	_, err := t.Store.Get(ctx, store.Revocation{Of: store.RevokeToken, Value: a.ID}.Key())
	if !errors.Is(err, store.ErrNotFound) {
		return false, refusal.OrUnavailable(err)
	}
	if a.Grant != "" {
		ended, err := ending.Ended(ctx, t.Store, a.Subject, a.Client, a.Epochs)
		if err != nil || ended {
			return false, refusal.OrUnavailable(err)
		}
		dead, err := t.Families.Revoked(ctx, a.Grant)
		if err != nil || dead {
			return false, refusal.OrUnavailable(err)
		}
	}
	if _, known, err := t.FindClient(ctx, a.Client); err != nil || !known {
		return false, refusal.OrUnavailable(err)
	}
	return t.activeSubject(ctx, a.Subject)
}

// activeSubject reports whether the user exists and is not locked. A client that acts for itself has no user.
func (t *Endpoint) activeSubject(ctx context.Context, subject string) (bool, error) {
	if strings.HasPrefix(subject, token.ClientSubject) {
		return true, nil
	}
	user, ok, err := t.Users.Lookup(ctx, subject)
	return err == nil && ok && !user.Locked, refusal.OrUnavailable(err)
}
