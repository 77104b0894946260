package grant

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/gatehouse/gatehouse/module/directory"
	"github.com/gatehouse/gatehouse/module/internal/audit"
	"github.com/gatehouse/gatehouse/module/internal/ending"
	"github.com/gatehouse/gatehouse/module/internal/httpx"
	"github.com/gatehouse/gatehouse/module/internal/secret"
	"github.com/gatehouse/gatehouse/module/oauth"
	"github.com/gatehouse/gatehouse/module/store"
)

// Grant is one grant type. It is called with an authenticated client that may use it. Refusals wrap an *oauth.Error,
// those about a code or token in a [*Refusal]; other errors are technical.
type Grant interface {
	Type() oauth.GrantType

	// Prepare decides whether the request is valid and what will be issued. It MUST make every check that can refuse
	// by itself, and MUST NOT use anything up: a failure here, or between here and Commit, leaves code and refresh
	// token usable for their owner. (Ending a family on a replay does not use it up.)
	Prepare(ctx context.Context, r Request) (Pending, error)
}

// Request is a token request whose client is authenticated.
type Request struct {
	Client *oauth.Client
	Form   httpx.Form
	// Resources are the configured audiences that the form's resource parameters mean, none where it asks for no
	// particular one. The caller refuses those that mean none.
	Resources []string
	// Address is the address of the sender, without port.
	Address string
}

// Pending is what will be issued if Commit succeeds.
type Pending struct {
	Subject string
	Scopes  []string
	Family  string // the ID of the grant family, "" for none
	// Resources are the audiences that the authorization was narrowed to (RFC 8707), empty for all the client's.
	Resources []string
	// AuthTime is when the user signed in, Session the digest of the browser session and Nonce that of the
	// authorization request, for the id_token. AuthTime is zero where no user signed in; Nonce is for the first
	// id_token alone.
	AuthTime time.Time
	Session  string
	Nonce    string
	// Epochs are those of the grant, for the access token.
	Epochs store.Epochs
	// Commit uses up what was presented and returns the refresh token, "" for none. Of any number of commits of one
	// code or refresh generation, on any number of nodes, one succeeds (and, in the grace of a rotation, its
	// repetitions). nil when there is nothing to use up.
	Commit func(ctx context.Context) (refresh string, err error)
}

// Config is what the grants need.
type Config struct {
	Store       store.Backend
	Directory   directory.Directory
	Revocations ending.Revoker
	// Keys authenticate refresh tokens. Its errors are technical.
	Keys func(context.Context) (*secret.Keys, error)
	// Passwords is for the password grant.
	Passwords Passwords
	// Tickets are those of devices. Default: there is no device grant.
	Tickets Tickets
	// Audit records replays and evictions. Default: nothing does.
	Audit audit.Sink
	// Evicted is called for each grant that ended because its user had too many at one client. Default: none.
	Evicted func()
	Now     func() time.Time

	// PerPair is the maximum number of live grants of one user at one client, [defaultPerPair] by default. At the
	// cap, the least recently used grant ends.
	PerPair int

	Access       time.Duration // life of an access token
	Refresh      time.Duration // absolute life of a family's refresh tokens
	RefreshIdle  time.Duration // 0: none
	RefreshGrace time.Duration // 0: none
}

// All returns all grant types.
func All(f *Families) []Grant {
	all := []Grant{
		&authorizationCode{newCodes(f.presenting("code"), store.DialectOAuth, store.DialectOAuth)},
		newRefreshToken(f.presenting("refresh_token")),
		clientCredentials{},
	}
	if f.Tickets != nil {
		codes := newCodes(f.presenting("device_code"), store.DialectDevice, store.DialectOAuth)
		all = append(all, &deviceCode{codes, f.Tickets, newPace(f.Now)})
	}
	return append(all, &passwordGrant{f})
}

func (c *Config) fill() error {
	if c.Store == nil || c.Directory == nil || c.Revocations == nil || c.Keys == nil || c.Passwords == nil || c.Now == nil {
		return errors.New("grant: an incomplete Config")
	}
	if c.Access < time.Second || c.Refresh < time.Second || c.RefreshIdle < 0 || c.RefreshGrace < 0 {
		return errors.New("grant: tokens must live for at least a second, and no time may be negative")
	}
	if c.PerPair < 0 || c.PerPair > maxPerPair {
		return fmt.Errorf("grant: %d grants of one user at one client; at most %d are allowed", c.PerPair, maxPerPair)
	}
	if c.PerPair == 0 {
		c.PerPair = defaultPerPair
	}
	if c.Evicted == nil {
		c.Evicted = func() {}
	}
	if c.Audit == nil {
		c.Audit = audit.Discard{}
	}
	return nil
}

// tries bounds how often a record is read again because another request changed it. Each conflict means that another
// request succeeded, and after two of those there is nothing left to change: the bound is for a misbehaving store.
const tries = 8

var errContended = errors.New("grant: the record changed at every try")
