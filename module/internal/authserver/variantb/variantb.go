package variantb

import (
	"context"
	"log/slog"
	"net/http"
	"time"

	"github.com/gatehouse/gatehouse/module/directory"
	"github.com/gatehouse/gatehouse/module/internal/audit"
	"github.com/gatehouse/gatehouse/module/internal/authserver/clientauth"
	"github.com/gatehouse/gatehouse/module/internal/authserver/grant"
	"github.com/gatehouse/gatehouse/module/internal/token"
	"github.com/gatehouse/gatehouse/module/oauth"
)

// Endpoints are the endpoints that a site calls. Their handlers expect a limited body. They are safe for concurrent use
// and run no goroutines. All fields are required.
type Endpoints struct {
	// Issuer is the iss of the gateway's tokens. Tokens of other issuers are not valid.
	Issuer     string
	ClientAuth *clientauth.Authenticator
	Grants     *grant.VariantB
	Names      *Names
	Directory  directory.Directory
	// Issue signs an access token. Errors are technical.
	Issue func(ctx context.Context, a token.Access) (string, error)
	// Verify verifies an access token. Refusals match [token.ErrInvalid]; other errors are technical.
	Verify func(ctx context.Context, raw string) (*token.Access, error)
	// Count counts requests with codes and refresh tokens; outcome is "issued", the error code or "client_gone".
	Count func(grant, outcome string)
	Audit audit.Sink
	Log   *slog.Logger
	// Audience returns the audience of a client's access tokens.
	Audience func(*oauth.Client) []string
	// Access is the lifetime of an access token.
	Access time.Duration
	// ClientIP returns the address of the sender, without port.
	ClientIP func(*http.Request) string
	Now      func() time.Time
}

// findApp finds a client of the dialect by its appid.
func (e *Endpoints) findApp(ctx context.Context, id string) (*oauth.Client, error) {
	client, ok, err := e.ClientAuth.FindClient(ctx, id)
	switch {
	case err != nil:
		return nil, oauth.Unavailable(err)
	case !ok || !client.VariantB:
		return nil, refuse(unknownAppID)
	}
	return client, nil
}
