package authserver

import (
	"context"
	"errors"
	"log/slog"
	"net/http"
	"net/url"
	"runtime"
	"time"

	"github.com/gatehouse/gatehouse/module/directory"
	"github.com/gatehouse/gatehouse/module/internal/audit"
	"github.com/gatehouse/gatehouse/module/internal/authserver/registration"
	"github.com/gatehouse/gatehouse/module/internal/crossdevice"
	"github.com/gatehouse/gatehouse/module/internal/ending"
	"github.com/gatehouse/gatehouse/module/internal/keyring"
	"github.com/gatehouse/gatehouse/module/internal/lockout"
	"github.com/gatehouse/gatehouse/module/internal/secret"
	"github.com/gatehouse/gatehouse/module/internal/token"
	"github.com/gatehouse/gatehouse/module/internal/webui"
	"github.com/gatehouse/gatehouse/module/oauth"
	"github.com/gatehouse/gatehouse/module/store"
)

// Config is everything a [Server] needs. New checks it.
type Config struct {
	// Issuer is the absolute URL, without a trailing slash, from which every other
	// URL is built. Nothing is ever taken from request headers instead.
	Issuer *url.URL

	Clients   Clients
	Scopes    []Scope
	Directory directory.Directory
	Store     store.Backend
	// Keys gives the secrets that seal and authenticate. It may read them from the
	// store at first use; its errors are technical.
	Keys        func(context.Context) (*secret.Keys, error)
	Tokens      Tokens
	Revocations ending.Revoker
	// Verifier judges the access tokens that come back to /userinfo and /introspect.
	Verifier Verifier
	// Issued is Verifier without the question what became of client and user: what is
	// revoked stays so when a locked user is let in again. Default: Verifier.
	Issued  Verifier
	Pages   *webui.Pages
	Metrics Metrics
	// Audit is told what happened. Default: nobody.
	Audit audit.Sink
	Log   *slog.Logger

	Lifetimes Lifetimes
	// GrantsPerUser is how many live grants one user has at one client at most. Default: 100.
	// At the cap the least recently used ends.
	GrantsPerUser int
	// Sweep is called when something was ended whose records are to be deleted, as an
	// [ending.Sweeper] does. Default: nobody is told.
	Sweep func()
	// TokenLife is the longest life of any access token that may be alive, those of earlier
	// configurations and other nodes included. Default: the longest of Lifetimes.
	TokenLife func() time.Duration
	// Audience of tokens when the client has none of its own; the issuer when empty.
	Audience []string
	// RequireState says when requests of clients without a rule of their own must carry
	// state. Default: see [oauth.StateRuleOf].
	RequireState oauth.StateRule
	// PKCERequired asks confidential clients for PKCE too.
	PKCERequired bool
	Protect      Protect
	// Attempts counts failures across reloads. Default: a book of this server's own.
	Attempts *lockout.Book

	// Registration lets clients register themselves. Default: none do.
	Registration *registration.Rules
	// Registrar keeps the clients that did. Registration needs it, and without Registration it
	// is needed as long as there are any.
	Registrar registration.Registrar

	// CrossDevice keeps what is confirmed on a second device. Default: tickets in Store, whose
	// polls nobody ends early.
	CrossDevice *crossdevice.Tickets

	// ClientIP gives the address a request comes from, without port, as Caddy's
	// trusted_proxies decides. Never a header.
	ClientIP func(*http.Request) string
	// RequestID gives what the logs call a request, for error pages to show. Default: pages show none.
	RequestID func(*http.Request) string
	// FullDuplex reports whether the server reads bodies on after it has responded. Default: it does not.
	FullDuplex func(*http.Request) bool
	// Now defaults to time.Now.
	Now func() time.Time
}

// Lifetimes of what the server issues.
type Lifetimes struct {
	Code         time.Duration // default 60 s
	Access       time.Duration // default 1 h
	VariantB     time.Duration // of an access token of Variant B, default 2 h
	Refresh      time.Duration // absolute, default 30 d
	RefreshIdle  time.Duration // default 14 d
	RefreshGrace time.Duration // 0 means none
	Session      time.Duration // absolute, default 12 h
	SessionIdle  time.Duration // default 1 h
	Request      time.Duration // a sign-in in progress, default 10 min
}

const loginWindow = 15 * time.Minute

// Protect bounds guessing and hashing.
type Protect struct {
	LoginFailures    int           // failures within [loginWindow] that lock a user or a name, default 10
	Lockout          time.Duration // default 15 min
	CodesPerUser     int           // authorization codes and implicit tokens a minute for one user, default 60
	PerAddress       int           // failed sign-ins a minute for one address (IPv6: one /64), default 30
	ClientFailures   int           // failed client authentications a minute for one client and address, default 10
	HashConcurrency  int           // passwords hashed at one time, default half the processors, 1 to 4
	HashQueueTimeout time.Duration // wait for a turn before 503, half of it at least; default 8 s
}

// Scope is one that was declared, with its text for the consent page.
type Scope struct {
	Name string
	Text map[string]string // language tag -> text; "en" is always there
	// Hidden ones are not listed in the metadata.
	Hidden bool
}

// Clients finds a client. ok is false for an unknown one; errors are technical.
type Clients interface {
	Client(ctx context.Context, id string) (c *oauth.Client, ok bool, err error)
	// AllowsOrigin reports whether it is an origin of any client.
	AllowsOrigin(origin string) bool
	// OptionalGrants are those of [oauth.OptionalGrantTypes] that some client may use now, or
	// could a moment ago: it is asked for every document, and must not ask a store for each.
	OptionalGrants() []oauth.GrantType
}

// Tokens makes access tokens.
type Tokens interface {
	// Issue signs a. It fills in ID when empty. Errors are technical.
	Issue(ctx context.Context, a token.Access) (string, error)
	// PublicKeys returns what the jwks address serves, making the first key if there is none.
	PublicKeys(ctx context.Context) (keyring.KeySet, error)
	// IssueID signs an id_token with alg, RS256 when empty. Errors are technical.
	IssueID(ctx context.Context, id token.ID, alg string) (string, error)
	// ReadHint returns the content of an id_token that this issuer made, expired or not.
	// Refusals match [token.ErrInvalid]; every other error is technical.
	ReadHint(ctx context.Context, raw string) (token.ID, error)
	// SignClaims signs any other claims; typ goes into the header. Errors are technical.
	SignClaims(ctx context.Context, typ string, claims map[string]any, alg string) (string, error)
	// IDAlgorithms are those that id_tokens are signed with.
	IDAlgorithms() []string
}

// Verifier decides whether a string is an access token of this store's that is alive
// now. Refusals match [token.ErrInvalid]; every other error is technical. Issuer and
// audience are the caller's to compare, and the result is not to be changed.
type Verifier interface {
	Verify(ctx context.Context, raw string) (*token.Access, error)
}

// Metrics counts. The labels are closed sets; implementations never see client ids.
type Metrics interface {
	// TokenRequest: outcome is "issued", the error code or "client_gone".
	TokenRequest(grant, outcome string)
	// SignIn: outcome is one of "ok", "refused", "locked", "limited", "error".
	SignIn(outcome string)
	// Revocation: outcome is "revoked", "nothing" (there was nothing to revoke), the error code or "client_gone".
	Revocation(outcome string)
	// Introspection: outcome is "active", "inactive", the error code or "client_gone".
	Introspection(outcome string)
	// DeprecatedGrant counts what was issued by a grant type of the past.
	DeprecatedGrant(grant string)
	// GrantEvicted counts a grant that ended since its user had too many at one client.
	GrantEvicted()
}

// maxAttempts is how many keys of each kind (accounts, addresses, clients) are counted at
// once when no book is given: some megabytes.
const maxAttempts = 10_000

func (c *Config) fill() error {
	switch {
	case c.Issuer == nil || c.Issuer.Host == "":
		return errors.New("authserver: no issuer")
	case c.Clients == nil, c.Directory == nil, c.Store == nil, c.Keys == nil, c.Tokens == nil,
		c.Revocations == nil, c.Verifier == nil, c.Pages == nil, c.Metrics == nil, c.Log == nil, c.ClientIP == nil:
		return errors.New("authserver: an incomplete Config")
	}
	if c.Registration != nil {
		if err := c.Registration.Check(); err != nil {
			return err
		}
		if c.Registrar == nil {
			return errors.New("authserver: registration needs a registrar")
		}
	}
	if c.Now == nil {
		c.Now = time.Now
	}
	if c.FullDuplex == nil {
		c.FullDuplex = func(*http.Request) bool { return false }
	}
	if c.RequestID == nil {
		c.RequestID = func(*http.Request) string { return "" }
	}
	if c.Audit == nil {
		c.Audit = audit.Discard{}
	}
	if c.Issued == nil {
		c.Issued = c.Verifier
	}
	if len(c.Audience) == 0 {
		c.Audience = []string{c.Issuer.String()}
	}
	if c.Attempts == nil {
		c.Attempts = lockout.NewBook(maxAttempts, c.Now)
	}
	if c.CrossDevice == nil {
		tickets, err := crossdevice.New(crossdevice.Config{Store: c.Store, Now: c.Now})
		if err != nil {
			return err
		}
		c.CrossDevice = tickets
	}
	set(&c.Lifetimes.Code, time.Minute)
	set(&c.Lifetimes.Access, time.Hour)
	set(&c.Lifetimes.VariantB, 2*time.Hour)
	if c.TokenLife == nil {
		life := max(c.Lifetimes.Access, c.Lifetimes.VariantB)
		c.TokenLife = func() time.Duration { return life }
	}
	set(&c.Lifetimes.Refresh, 30*24*time.Hour)
	set(&c.Lifetimes.RefreshIdle, 14*24*time.Hour)
	set(&c.Lifetimes.Session, 12*time.Hour)
	set(&c.Lifetimes.SessionIdle, time.Hour)
	set(&c.Lifetimes.Request, 10*time.Minute)
	set(&c.Protect.LoginFailures, 10)
	set(&c.Protect.Lockout, 15*time.Minute)
	set(&c.Protect.PerAddress, 30)
	set(&c.Protect.CodesPerUser, 60)
	set(&c.Protect.ClientFailures, 10)
	set(&c.Protect.HashConcurrency, hashConcurrency())
	set(&c.Protect.HashQueueTimeout, 8*time.Second)
	return nil
}

// hashConcurrency is the default of [Protect]'s.
func hashConcurrency() int { return min(max(1, runtime.GOMAXPROCS(0)/2), 4) }

func set[T comparable](field *T, value T) {
	var zero T
	if *field == zero {
		*field = value
	}
}
