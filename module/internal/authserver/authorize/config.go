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
	"github.com/gatehouse/gatehouse/module/internal/authserver/query"
	"github.com/gatehouse/gatehouse/module/internal/token"
	"github.com/gatehouse/gatehouse/module/oauth"
	"github.com/gatehouse/gatehouse/module/store"
)

// Tokens makes access tokens and reads id_tokens.
type Tokens interface {
	Issue(ctx context.Context, a token.Access) (string, error)
	// ReadHint returns the content of an id_token that this issuer made, expired or not.
	// Refusals match [token.ErrInvalid].
	ReadHint(ctx context.Context, raw string) (token.ID, error)
}

// Families stores the grants of implicit tokens.
type Families interface {
	// Begin stores a grant until expires; created is false when there is one of that ID. It
	// refuses with invalid_grant when the permission was withdrawn meanwhile.
	Begin(ctx context.Context, g store.Grant, expires time.Time) (created bool, err error)
	// End kills a grant. One that is unknown or dead already is no error.
	End(ctx context.Context, id string) (ended bool, err error)
}

// Pushed opens pushed requests (RFC 9126) and uses each up once, see package pushed.
type Pushed interface {
	// Open returns the parameters that a request_uri of ours stands for, and their id; p and ""
	// without one.
	Open(ctx context.Context, p query.Params) (_ query.Params, id string, err error)
	// Spend uses up a pushed request for what is about to be issued.
	Spend(ctx context.Context, id string, created time.Time, issued string) error
}

// Endpoint answers authorization requests and takes consent. All fields are needed, except where it says otherwise.
type Endpoint struct {
	*login.Page
	Consents   consent.Store
	Codes      authcode.Codes
	Pushed     Pushed
	Audiences  audience.Config
	GrantTypes grant.Rules
	Tokens     Tokens
	Families   Families
	// KeepRegistration is called when somebody uses a client that registered itself. nil: nothing
	// is to be done.
	KeepRegistration func(ctx context.Context, id string) error
	ScopeTexts       page.ScopeTexts

	// RequireState says when requests of clients without a rule of their own must carry state.
	RequireState oauth.StateRule
	// PKCERequired asks confidential clients for PKCE too.
	PKCERequired bool
	CodeLife     time.Duration
	AccessLife   time.Duration
}
