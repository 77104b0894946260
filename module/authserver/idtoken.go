package authserver

import (
	"context"
	"slices"
	"time"

	"github.com/gatehouse/gatehouse/module/authserver/grant"
	"github.com/gatehouse/gatehouse/module/internal/secret"
	"github.com/gatehouse/gatehouse/module/oauth"
	"github.com/gatehouse/gatehouse/module/token"
)

// scopeOpenID makes of an authorization request one of OpenID Connect (Core section
// 3.1.2.1).
const scopeOpenID = "openid"

// idToken signs what OpenID Connect Core section 2 says about a sign-in, "" where none
// was asked about. It holds no name and no address of the user: an access token is always
// issued beside it, and section 5.4 then has those claims at /userinfo.
func (t *tokenEndpoint) idToken(ctx context.Context, c *oauth.Client, p grant.Pending, access string) (string, error) {
	if p.AuthTime.IsZero() || !slices.Contains(p.Scopes, scopeOpenID) {
		return "", nil
	}
	now := t.s.Now().Truncate(time.Second)
	return t.s.Tokens.IssueID(ctx, token.ID{
		Subject:     p.Subject,
		Client:      c.ID,
		Nonce:       p.Nonce,
		Session:     sessionID(p.Session),
		AuthTime:    p.AuthTime.Truncate(time.Second),
		AccessToken: access,
		IssuedAt:    now,
		Expires:     now.Add(t.s.Lifetimes.Access.Truncate(time.Second)),
	}, c.IDTokenAlg)
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
