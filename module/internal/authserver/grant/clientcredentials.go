package grant

import (
	"context"

	"github.com/gatehouse/gatehouse/module/internal/token"
	"github.com/gatehouse/gatehouse/module/oauth"
)

// clientCredentials is RFC 6749 section 4.4: a client acting for itself. There is no refresh token (section 4.4.3)
// and nothing to use up.
type clientCredentials struct{}

func (clientCredentials) Type() oauth.GrantType { return oauth.ClientCredentials }

func (clientCredentials) Prepare(_ context.Context, r Request) (Pending, error) {
	if r.Client.Public {
		return Pending{}, oauth.E(oauth.UnauthorizedClient, "a public client has no credentials to act for itself with")
	}
	scopes, refusal := r.Client.GrantableScopes(r.Form.Get("scope"))
	if refusal != nil {
		return Pending{}, refusal
	}
	// The prefix keeps a client from posing as the user whose ID equals its own.
	return Pending{Subject: token.ClientSubject + r.Client.ID, Scopes: scopes}, nil
}
