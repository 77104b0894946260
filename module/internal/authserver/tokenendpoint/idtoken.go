package tokenendpoint

import (
	"context"
	"slices"
	"time"

	"github.com/gatehouse/gatehouse/module/internal/authserver/grant"
	"github.com/gatehouse/gatehouse/module/internal/authserver/userclaims"
	"github.com/gatehouse/gatehouse/module/internal/token"
	"github.com/gatehouse/gatehouse/module/oauth"
)

// idToken signs the id_token about a sign-in (OpenID Connect Core section 2), "" if none was asked for. By default it
// has no name and no address of the user: an access token is always issued with it, and section 5.4 then puts those
// claims at /userinfo. A client that never calls /userinfo may be configured to get them here, for those of the
// granted scopes that its IDTokenClaims name.
func (t *Endpoint) idToken(ctx context.Context, c *oauth.Client, p grant.Pending, access string) (string, error) {
	if p.AuthTime.IsZero() || !slices.Contains(p.Scopes, "openid") {
		return "", nil
	}
	claims, err := t.idTokenClaims(ctx, c, p)
	if err != nil {
		return "", err
	}
	now := t.Now().Truncate(time.Second)
	return t.Tokens.IssueID(ctx, token.ID{
		Subject:     p.Subject,
		Client:      c.ID,
		Nonce:       p.Nonce,
		Session:     userclaims.SessionID(p.Session),
		AuthTime:    p.AuthTime.Truncate(time.Second),
		AccessToken: access,
		IssuedAt:    now,
		Expires:     now.Add(t.Access.Truncate(time.Second)),
		Claims:      claims,
	}, c.IDTokenAlg)
}

// idTokenClaims are the claims about the user, nil for none.
func (t *Endpoint) idTokenClaims(ctx context.Context, c *oauth.Client, p grant.Pending) (map[string]any, error) {
	scopes := slices.DeleteFunc(slices.Clone(c.IDTokenClaims), func(name string) bool { return !slices.Contains(p.Scopes, name) })
	if len(scopes) == 0 {
		return nil, nil
	}
	user, ok, err := t.Users.Lookup(ctx, p.Subject)
	switch {
	case err != nil:
		return nil, err
	case !ok || user.Locked: // since the grant asked
		return nil, oauth.E(oauth.InvalidGrant, "the user may no longer sign in")
	}
	return userclaims.Of(user, scopes), nil
}
