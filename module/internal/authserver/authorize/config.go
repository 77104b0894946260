package authorize

import (
	"context"
	"time"

	"github.com/gatehouse/gatehouse/module/internal/authserver/audience"
	"github.com/gatehouse/gatehouse/module/internal/authserver/authcode"
	"github.com/gatehouse/gatehouse/module/internal/authserver/consent"
	"github.com/gatehouse/gatehouse/module/internal/authserver/grant"
	"github.com/gatehouse/gatehouse/module/internal/authserver/login"
	"github.com/gatehouse/gatehouse/module/internal/authserver/page"
	"github.com/gatehouse/gatehouse/module/internal/authserver/pushed"
	"github.com/gatehouse/gatehouse/module/internal/token"
	"github.com/gatehouse/gatehouse/module/oauth"
)

// Tokens makes access tokens and reads id_tokens.
type Tokens interface {
	Issue(ctx context.Context, a token.Access) (string, error)
	// ReadHint returns the content of an id_token that this issuer made, expired or not.
	// Refusals match [token.ErrInvalid].
	ReadHint(ctx context.Context, raw string) (token.ID, error)
}

// Endpoint answers authorization requests and takes consent. All fields are needed, except where it says otherwise.
type Endpoint struct {
	*login.Page
	Consents   consent.Store
	Codes      authcode.Codes
	Pushed     *pushed.Endpoint
	Audiences  audience.Config
	GrantTypes grant.Rules
	Tokens     Tokens
	Families   *grant.Families
	// KeepRegistration is called when somebody uses a client that registered itself. nil: nothing is to be done.
	KeepRegistration func(ctx context.Context, id string) error
	ScopeTexts       page.ScopeTexts

	// RequireState says when requests of clients without a rule of their own must carry state.
	RequireState oauth.StateRule
	// PKCERequired asks confidential clients for PKCE too.
	PKCERequired bool
	CodeLife     time.Duration
	AccessLife   time.Duration
}
