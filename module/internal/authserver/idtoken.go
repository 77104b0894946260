package authserver

import (
	"context"
	"slices"
	"time"

	"github.com/gatehouse/gatehouse/module/internal/authserver/grant"
	"github.com/gatehouse/gatehouse/module/internal/secret"
	"github.com/gatehouse/gatehouse/module/internal/token"
	"github.com/gatehouse/gatehouse/module/oauth"
)

// scopeOpenID makes of an authorization request one of OpenID Connect (Core section
// 3.1.2.1).
const scopeOpenID = "openid"

// idToken signs what OpenID Connect Core section 2 says about a sign-in, "" where none
// was asked about. By default it holds no name and no address of the user: an access token
// is always issued beside it, and section 5.4 then has those claims at /userinfo. A client
// that never calls /userinfo may be configured to get them here: of the scopes that are
// granted, those that its IDTokenClaims name.
func (t *tokenEndpoint) idToken(ctx context.Context, c *oauth.Client, p grant.Pending, access string) (string, error) {
	if p.AuthTime.IsZero() || !slices.Contains(p.Scopes, scopeOpenID) {
		return "", nil
	}
	claims, err := t.idTokenClaims(ctx, c, p)
	if err != nil {
		return "", err
	}
	now := t.s.Now().Truncate(time.Second)
	signed, err := t.s.Tokens.IssueID(ctx, token.ID{
		Subject:     p.Subject,
		Client:      c.ID,
		Nonce:       p.Nonce,
		Session:     sessionID(p.Session),
		AuthTime:    p.AuthTime.Truncate(time.Second),
		AccessToken: access,
		IssuedAt:    now,
		Expires:     now.Add(t.s.Lifetimes.Access.Truncate(time.Second)),
		Claims:      claims,
	}, c.IDTokenAlg)
	if err != nil {
		return "", oauth.Unavailable(err)
	}
	return signed, nil
}

// idTokenClaims is what the id_token tells about the user, nil for nothing.
func (t *tokenEndpoint) idTokenClaims(ctx context.Context, c *oauth.Client, p grant.Pending) (map[string]any, error) {
	scopes := slices.DeleteFunc(slices.Clone(c.IDTokenClaims), func(name string) bool { return !slices.Contains(p.Scopes, name) })
	if len(scopes) == 0 {
		return nil, nil
	}
	user, ok, err := t.s.Directory.Lookup(ctx, p.Subject)
	switch {
	case err != nil:
		return nil, oauth.Unavailable(err)
	case !ok || user.Locked: // since the grant asked
		return nil, oauth.E(oauth.InvalidGrant, "the user may no longer sign in")
	}
	return userClaims(user, scopes), nil
}

// sessionID is the sid claim of a browser session: the same for all its clients (OpenID
// Connect Front-Channel Logout section 3), and not the name under which the session is
// stored.
func sessionID(digest string) string {
	if digest == "" {
		return ""
	}
	return secret.Digest("sid\x00" + digest)[:32]
}
