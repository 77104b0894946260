package registration

import (
	"cmp"
	"context"
	"errors"

	"github.com/gatehouse/gatehouse/module/oauth"
)

// DefaultMax is how many clients may be registered at one time, unless configured.
const DefaultMax = 1000

// Rules say who may register clients and what these may have (RFC 7591).
type Rules struct {
	// InitialTokens are the hex SHA-256 digests of the tokens that permit it.
	InitialTokens []string
	// Scopes are the most that a client may have.
	Scopes []string
	// Audience of the tokens of registered clients that have none of their own, the server's default when empty.
	Audience []string
	// Max is how many clients may be registered at one time. Default: [DefaultMax].
	Max int
}

// Check fills in the defaults. It fails without an initial access token.
func (c *Rules) Check() error {
	if len(c.InitialTokens) == 0 {
		return errors.New("registration: no initial access token")
	}
	c.Max = cmp.Or(c.Max, DefaultMax)
	return nil
}

// Registrar keeps the clients that register themselves. An error that is an *oauth.Error is a refusal, every other
// one is technical. Digests are those of a registration access token (RFC 7592), in hex.
type Registrar interface {
	// Register stores a client under a new id and returns it, with its secret if it is to have one. There MUST never
	// be more registered clients than limit, however many calls run in parallel on however many nodes. Registrations
	// that nobody uses MUST end by themselves.
	Register(ctx context.Context, client *oauth.Client, digest string, limit int) (made *oauth.Client, secret string, err error)
	// Registered finds a client by its id and digest; ok is false unless both are right.
	Registered(ctx context.Context, id, digest string) (client *oauth.Client, ok bool, err error)
	// Reregister replaces the metadata of the client.
	Reregister(ctx context.Context, id string, client *oauth.Client) (*oauth.Client, error)
	// Unregister removes the client and all that was issued to it.
	Unregister(ctx context.Context, id string) error
	// Used marks the registration as used: it MUST stay from now on.
	Used(ctx context.Context, id string) error
}
