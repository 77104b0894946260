// Package userinfo is the UserInfo endpoint of OpenID Connect: who the user of an access token is. It knows neither
// sessions nor how tokens are made.
package userinfo

import (
	"context"
	"errors"
	"net/http"
	"slices"
	"strings"

	"github.com/gatehouse/gatehouse/module/directory"
	"github.com/gatehouse/gatehouse/module/internal/authserver/oauthhttp"
	"github.com/gatehouse/gatehouse/module/internal/authserver/userclaims"
	"github.com/gatehouse/gatehouse/module/internal/token"
	"github.com/gatehouse/gatehouse/module/oauth"
)

// Endpoint is OpenID Connect Core section 5.3. The token may be for any audience, since a client has no other to ask
// with; what it needs is the scope openid. All fields are needed.
type Endpoint struct {
	// Issuer is the iss of our tokens.
	Issuer string
	// Verify decides whether a string is an access token that is alive. Refusals match [token.ErrInvalid]; other
	// errors are technical.
	Verify func(ctx context.Context, raw string) (*token.Access, error)
	// FindClient returns false for an unknown client; errors are technical.
	FindClient func(ctx context.Context, id string) (c *oauth.Client, ok bool, err error)
	Users      directory.Directory
	// SignClaims signs the answers for clients that want them as a JWT. Errors are technical.
	SignClaims func(ctx context.Context, typ string, claims map[string]any, alg string) (string, error)
	Respond    oauthhttp.Responder
}

// ServeHTTP answers a request whose body is limited already.
func (e *Endpoint) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if err := e.serve(w, r); err != nil { // RFC 6750 section 3
		oauthhttp.SetChallenge(w.Header(), err, e.Issuer, "openid")
		e.Respond.WriteError(w, r, err)
	}
}

func (e *Endpoint) serve(w http.ResponseWriter, r *http.Request) error {
	raw, err := readAccessToken(r)
	if err != nil {
		return err
	}
	access, client, err := e.openIDToken(r.Context(), raw)
	if err != nil {
		return err
	}
	user, err := e.activeUser(r.Context(), access)
	if err != nil {
		return err
	}
	claims := userclaims.Of(user, access.Scopes)
	claims["sub"] = user.ID
	if client.UserinfoContentType != "application/jwt" {
		e.Respond.WriteJSON(w, http.StatusOK, claims)
		return nil
	}
	claims["iss"], claims["aud"] = e.Issuer, client.ID
	signed, err := e.SignClaims(r.Context(), "JWT", claims, client.IDTokenAlg)
	if err != nil {
		return oauth.Unavailable(err)
	}
	w.Header().Set("Content-Type", "application/jwt")
	w.WriteHeader(http.StatusOK)
	_, _ = w.Write([]byte(signed)) // fails only when the client has gone
	return nil
}

// openIDToken returns a token that may be used at /userinfo, and its client.
func (e *Endpoint) openIDToken(ctx context.Context, raw string) (*token.Access, *oauth.Client, error) {
	invalid := oauth.E(oauth.InvalidToken, "the access token is unknown, expired or revoked")
	access, err := e.Verify(ctx, raw)
	switch {
	case errors.Is(err, token.ErrInvalid):
		return nil, nil, invalid
	case err != nil:
		return nil, nil, oauth.Unavailable(err)
	case access.Issuer != e.Issuer:
		return nil, nil, invalid
	case strings.HasPrefix(access.Subject, token.ClientSubject):
		return nil, nil, oauth.E(oauth.InvalidToken, "the access token is a client's own, not a user's")
	case access.Pairwise != "": // the answer would disclose the subject
		return nil, nil, oauth.E(oauth.InvalidToken, "the access token is one of Variant B")
	case !slices.Contains(access.Scopes, "openid"):
		return nil, nil, oauth.E(oauth.InsufficientScope, "the access token has no scope openid")
	}
	client, ok, err := e.FindClient(ctx, access.Client)
	switch {
	case err != nil:
		return nil, nil, oauth.Unavailable(err)
	case !ok:
		return nil, nil, invalid
	}
	return access, client, nil
}

// activeUser is the user of a token as they are now. Nothing is disclosed about a user who was locked since.
func (e *Endpoint) activeUser(ctx context.Context, access *token.Access) (directory.User, error) {
	user, ok, err := e.Users.Lookup(ctx, access.Subject)
	switch {
	case err != nil:
		return user, oauth.Unavailable(err)
	case !ok || user.Locked:
		return user, oauth.E(oauth.InvalidToken, "the user may no longer sign in")
	}
	return user, nil
}
