package variantb

import (
	"context"
	"errors"
	"log/slog"
	"net/http"
	"time"

	"github.com/gatehouse/gatehouse/module/directory"
	"github.com/gatehouse/gatehouse/module/internal/audit"
	"github.com/gatehouse/gatehouse/module/internal/authserver/grant"
	"github.com/gatehouse/gatehouse/module/internal/token"
	"github.com/gatehouse/gatehouse/module/oauth"
)

// Config is what the [Endpoints] need; New checks it.
type Config struct {
	// Issuer is the iss of our tokens: those of another are nothing here.
	Issuer    string
	Clients   Clients
	Secrets   Secrets
	Grants    Grants
	Names     *Names
	Directory directory.Directory
	Tokens    Tokens
	Verifier  Verifier
	Metrics   Metrics
	// Audit is told what was issued. Default: nobody.
	Audit audit.Sink
	Log   *slog.Logger
	// Audience is what the access tokens of a client are for.
	Audience func(*oauth.Client) []string
	// Access is the life of an access token.
	Access time.Duration
	// ClientIP is the address of the sender, without port.
	ClientIP func(*http.Request) string
	// Now defaults to time.Now.
	Now func() time.Time
}

// Clients finds a client. ok is false for an unknown one; errors are technical.
type Clients interface {
	Client(ctx context.Context, id string) (c *oauth.Client, ok bool, err error)
}

// Secrets authenticates a client of Variant B. Errors are *oauth.Error; that of an appid
// nobody has matches [clientauth.ErrUnknownApp] and MUST take as long as that of a wrong
// secret.
type Secrets interface {
	App(r *http.Request, appid, secret string) (*oauth.Client, error)
}

// Grants judges codes and refresh tokens of the dialect, as [grant.VariantB] does.
type Grants interface {
	Code(ctx context.Context, r grant.Request) (grant.Pending, error)
	Refresh(ctx context.Context, r grant.Request) (grant.Pending, error)
}

// Tokens signs access tokens. Errors are technical.
type Tokens interface {
	Issue(ctx context.Context, a token.Access) (string, error)
}

// Verifier decides whether a string is an access token that is alive. Refusals match
// [token.ErrInvalid]; every other error is technical.
type Verifier interface {
	Verify(ctx context.Context, raw string) (*token.Access, error)
}

// Metrics counts what was asked for with codes and refresh tokens; outcome is "issued" or
// the error code.
type Metrics interface {
	TokenRequest(grant, outcome string)
}

// Endpoints are the addresses that a site calls. Their handlers expect a limited body.
// They are safe for concurrent use and hold no goroutine.
type Endpoints struct{ Config }

// New checks the configuration.
func New(c Config) (*Endpoints, error) {
	switch {
	case c.Issuer == "", c.Clients == nil, c.Secrets == nil, c.Grants == nil, c.Names == nil, c.Directory == nil,
		c.Tokens == nil, c.Verifier == nil, c.Metrics == nil, c.Log == nil, c.Audience == nil, c.ClientIP == nil:
		return nil, errors.New("variantb: an incomplete Config")
	case c.Access < time.Second:
		return nil, errors.New("variantb: access tokens must live a second at least")
	}
	if c.Audit == nil {
		c.Audit = audit.Discard{}
	}
	if c.Now == nil {
		c.Now = time.Now
	}
	return &Endpoints{c}, nil
}

// findApp finds a client of the dialect by its appid.
func (e *Endpoints) findApp(ctx context.Context, id string) (*oauth.Client, error) {
	client, ok, err := e.Clients.Client(ctx, id)
	switch {
	case err != nil:
		return nil, oauth.Unavailable(err)
	case !ok || !client.VariantB:
		return nil, refuse(unknownAppID)
	}
	return client, nil
}
