package gateway

import (
	"cmp"
	"fmt"
	"time"

	"github.com/caddyserver/caddy/v2"

	"github.com/gatehouse/gatehouse/module/internal/webui"
)

// Tokens are the lifetimes of what the server issues, and the form of access tokens.
type Tokens struct {
	// How long an access token is valid. Default: `1h`, for `variant_b` clients `2h`.
	Access caddy.Duration `json:"access,omitempty"`
	// The absolute lifetime of a grant's refresh tokens. Default: `30d`.
	Refresh caddy.Duration `json:"refresh,omitempty"`
	// How long a refresh token may stay unused. Default: `14d`.
	RefreshIdle caddy.Duration `json:"refresh_idle,omitempty"`
	// How long the previous refresh token is still accepted, and gives the same successor,
	// for clients that lost the first response. Default: `10s`; `0` for none.
	RefreshGrace *caddy.Duration `json:"refresh_grace,omitempty"`
	// How long an authorization code is valid. Default: `60s`.
	Code caddy.Duration `json:"code,omitempty"`
	// The most live grants (refresh tokens, each with its rotations) of one user at one
	// client, 1 to 1000. At the maximum a new one ends the least recently used. Default: 100.
	GrantsPerUser int `json:"grants_per_user,omitempty"`
	// The signature algorithm of access tokens: `ES256` (the default), `RS256` or `EdDSA`.
	Algorithm string `json:"alg,omitempty"`
	// The age at which the signing key is replaced. Old keys stay published until the last
	// token they signed has expired. At least `1h`. Default: `30d`.
	RotateKeys caddy.Duration `json:"rotate_keys,omitempty"`
	// The audience of access tokens of clients that have none of their own, and the one
	// that guards require. Default: the issuer.
	Audience []string `json:"audience,omitempty"`
}

// maxKeyLives is how many keys of an algorithm may be in use at once: each stays until its
// last token has expired, and the key ring holds 64 of up to three algorithms.
const maxKeyLives = 16

func (t Tokens) accessLife() time.Duration { return cmp.Or(time.Duration(t.Access), time.Hour) }

// variantBLife is the lifetime for Variant B, whose libraries expect two hours.
func (t Tokens) variantBLife() time.Duration { return cmp.Or(time.Duration(t.Access), 2*time.Hour) }

func (t Tokens) longestLife() time.Duration { return max(t.accessLife(), t.variantBLife()) }

// keyAge is the age at which a signing key is replaced.
func (t Tokens) keyAge() time.Duration { return cmp.Or(time.Duration(t.RotateKeys), 30*24*time.Hour) }

func (t Tokens) checkKeys() error {
	life, every := t.longestLife(), t.keyAge()
	if life/every >= maxKeyLives {
		return fmt.Errorf("tokens: rotate_keys: with %v, access tokens of %v would need more than %d signing keys at once; expected at least %v",
			every, life, maxKeyLives, life/maxKeyLives+time.Second)
	}
	return nil
}

// Session says how long a browser stays signed in.
type Session struct {
	// How long a session lasts from sign-in. Default: `12h`.
	Absolute caddy.Duration `json:"absolute,omitempty"`
	// How long a session lasts without a request of its browser. Default: `1h`.
	Idle caddy.Duration `json:"idle,omitempty"`
}

// Scope is a permission that clients may request.
type Scope struct {
	// The scope as clients request it, a scope-token of RFC 6749 section 3.3. Required.
	Name string `json:"name"`
	// The text of the consent page by language tag; `en` is required.
	Text map[string]string `json:"text"`
	// Keeps the scope out of the published metadata.
	Hidden bool `json:"hidden,omitempty"`
}

// Pages says how the pages look.
type Pages struct {
	// A directory whose files replace built-in templates of the same name. Default: none are replaced.
	Templates string `json:"templates,omitempty"`
	// An https address or a path on the issuer's host. Default: Gatehouse's logo.
	Logo string `json:"logo,omitempty"`
	// The logo contains the name, so the pages do not write it beside the logo.
	Wordmark bool `json:"wordmark,omitempty"`
	// The accent colour as `#rrggbb`, darkened as far as contrast requires. Default: `#1d5bd6`.
	Color string `json:"color,omitempty"`
	// The accent colour of the dark theme as `#rrggbb`, lightened as far as contrast requires.
	// Default: `color`, or `#7aa7ff` when there is none.
	ColorDark string `json:"color_dark,omitempty"`
	// The operator's own pages that the pages link to.
	Links Links `json:"links,omitzero"`
	// Language tags; the first is the fallback. Default: `en`, `zh`.
	Languages []string `json:"languages,omitempty"`
}

// Links are addresses that the pages link to, each an https URL or a path on the issuer's
// host. Default: no link.
type Links struct {
	// At the foot of every page. Default: no link.
	Help string `json:"help,omitempty"`
	// At the foot of every page. Default: no link.
	Privacy string `json:"privacy,omitempty"`
	// At the foot of every page. Default: no link.
	Terms string `json:"terms,omitempty"`
	// Below the password field, for people who have forgotten theirs. Default: no link.
	Forgot string `json:"forgot,omitempty"`
}

// CheckLink reports why the pages must not link to an address.
func CheckLink(address string) error { return webui.CheckLink(address) }

// Protect limits guessing.
type Protect struct {
	// Failed sign-ins within 15 minutes that lock a user, or a name that was typed. Browsers
	// in which the user signed in before have a separate count. Default: 10.
	LoginFailures int `json:"login_failures,omitempty"`
	// How long the lock lasts. Default: `15m`.
	Lockout caddy.Duration `json:"lockout,omitempty"`
	// Failed sign-ins a minute for one address (IPv6: one /64; twice as many for a /56, 8 times
	// for a /48, 128 times for a /32). Default: 30.
	PerAddress int `json:"per_address,omitempty"`
	// Authorization codes a minute for one user, on each node: a client whose consent is
	// remembered can request them in a loop. Raise it for an account that many devices share.
	// Default: 60.
	CodesPerUser int `json:"codes_per_user,omitempty"`
	// Passwords hashed at one time; each takes about 46 MiB and one processor. Further sign-ins
	// are queued. Default: half the processors, 1 to 4, so that other requests are answered
	// meanwhile.
	HashConcurrency int `json:"hash_concurrency,omitempty"`
}
