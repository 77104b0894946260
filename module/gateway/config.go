package gateway

import (
	"github.com/caddyserver/caddy/v2"
)

// Tokens says how long what the server issues lives, and how access tokens are made.
type Tokens struct {
	// How long an access token is valid. Default: `1h`.
	Access caddy.Duration `json:"access,omitempty"`
	// The absolute life of a grant's refresh tokens. Default: `30d`.
	Refresh caddy.Duration `json:"refresh,omitempty"`
	// How long a refresh token may lie unused. Default: `14d`.
	RefreshIdle caddy.Duration `json:"refresh_idle,omitempty"`
	// How long the previous refresh token is still answered, with the same successor,
	// for clients whose first answer was lost. Default: `10s`; `0` for none.
	RefreshGrace *caddy.Duration `json:"refresh_grace,omitempty"`
	// How long an authorization code is valid. Default: `60s`.
	Code caddy.Duration `json:"code,omitempty"`
	// The signature algorithm of access tokens: `ES256` (the default), `RS256` or `EdDSA`.
	Algorithm string `json:"alg,omitempty"`
	// The audience of access tokens of clients that have none of their own, and the
	// one guards ask for. Default: the issuer.
	Audience []string `json:"audience,omitempty"`
}

// Session says how long a browser stays signed in.
type Session struct {
	// From sign-in. Default: `12h`.
	Absolute caddy.Duration `json:"absolute,omitempty"`
	// Without a request. Default: `1h`.
	Idle caddy.Duration `json:"idle,omitempty"`
}

// Scope is a permission that clients may ask for.
type Scope struct {
	// The name on the wire, a scope-token of RFC 6749 section 3.3.
	Name string `json:"name"`
	// The text of the consent page by language tag; `en` is required.
	Text map[string]string `json:"text"`
	// Keeps the scope out of the published metadata.
	Hidden bool `json:"hidden,omitempty"`
}

// Client is an application that may ask for tokens.
type Client struct {
	// The client_id.
	ID string `json:"id"`
	// What people are shown. Default: the id.
	Name string `json:"name,omitempty"`
	// Secrets, at least 32 characters each, any of which authenticates. Best given as
	// placeholders such as `{env.READER_SECRET}`, resolved when the configuration is
	// loaded.
	Secrets []string `json:"secrets,omitempty"`
	// Secrets as `sha256:` and 64 hexadecimal digits. The Caddyfile adapter puts
	// literal secrets here.
	SecretHashes []string `json:"secret_hashes,omitempty"`
	// The one way in which the client may send its secret: `client_secret_basic` or
	// `client_secret_post`. Default: either.
	AuthMethod string `json:"auth_method,omitempty"`
	// A client that cannot keep a secret; it must use PKCE.
	Public bool `json:"public,omitempty"`
	// A program on the user's device: a registered loopback address matches with any
	// port, and private-use schemes are allowed (RFC 8252).
	Native bool `json:"native,omitempty"`
	// Where codes may be sent, compared exactly.
	RedirectURIs []string `json:"redirect_uris,omitempty"`
	// Further browser origins that may call the token endpoint.
	Origins []string `json:"origins,omitempty"`
	// Grant types: `authorization_code`, `refresh_token`, `client_credentials`.
	// Default: the first two when there is a redirect address, else the last.
	Grants []string `json:"grants,omitempty"`
	// Scopes it may ask for.
	Scopes []string `json:"scopes,omitempty"`
	// Scopes it gets when it asks for none. Default: none, and asking is required.
	DefaultScopes []string `json:"default_scopes,omitempty"`
	// The audience of its tokens. Default: that of `tokens`.
	Audience []string `json:"audience,omitempty"`
	// One's own application: no consent page.
	Trusted bool `json:"trusted,omitempty"`
}

// Pages says how the pages look.
type Pages struct {
	// A directory whose files replace built-in templates of the same name.
	Templates string `json:"templates,omitempty"`
	// An https address or a path on the issuer's host.
	Logo string `json:"logo,omitempty"`
	// The accent colour as `#rrggbb`.
	Color string `json:"color,omitempty"`
	// Language tags; the first is the fallback. Default: `en`, `zh`.
	Languages []string `json:"languages,omitempty"`
}

// Protect bounds guessing.
type Protect struct {
	// Failed sign-ins within 15 minutes that lock an account. Default: 10.
	LoginFailures int `json:"login_failures,omitempty"`
	// How long it stays locked. Default: `15m`.
	Lockout caddy.Duration `json:"lockout,omitempty"`
	// Sign-in attempts a minute for one address (IPv6: one /64). Default: 30.
	PerAddress int `json:"per_address,omitempty"`
	// Passwords hashed at one time; each takes about 46 MiB. Default: 2.
	HashConcurrency int `json:"hash_concurrency,omitempty"`
}
