package guard

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"time"

	"github.com/gatehouse/gatehouse/module/internal/lockout"
	"github.com/gatehouse/gatehouse/module/internal/token"
	"github.com/gatehouse/gatehouse/module/oauth"
)

// Verifier says what an access token contains.
type Verifier interface {
	// Verify MUST return an error that is token.ErrInvalid for a token that is not
	// acceptable at this moment, and any other error only for a technical reason. The former
	// SHOULD be a token.RefusedError: its reason is what the operator is told.
	// It MUST check signature, type, expiry and revocation on every call, MUST be safe
	// for concurrent use and MUST NOT keep raw. The guard judges issuer, audience and
	// scopes itself, on every request, so that a cached result serves many routes.
	Verify(ctx context.Context, raw string) (*token.Access, error)
}

// Otherwise is what happens to a request that no rule matches.
type Otherwise int

const (
	Deny  Otherwise = iota // 403
	Token                  // any valid token passes
)

// DefaultForgeries is how many forged tokens one address may present before the operator is
// told, and how long it takes until the operator is told of that address again.
var DefaultForgeries = lockout.Rule{Limit: 60, Window: time.Minute, Lock: 15 * time.Minute}

// Config is what a guard needs. Verifier and Issuer are required.
type Config struct {
	Verifier Verifier

	// Issuer is the only accepted iss, compared byte for byte.
	Issuer string

	// Audience must be among a token's audiences. Default: the issuer.
	Audience string

	// Realm of the challenges. Default: the audience.
	Realm string

	// MetadataURL is where the resource describes itself (RFC 9728); challenges name it.
	// Default: nowhere.
	MetadataURL string

	// Hidden reports scopes that strangers must not be told of. The challenge of a 401 names
	// the scopes of the rule that decides unless one of them is hidden. Default: none is.
	Hidden func(scope string) bool

	// Rules are tried in order; the first that matches method and path decides alone.
	// Without rules any valid token passes.
	Rules []Rule

	// Otherwise decides what no rule matches. Default: Deny. Without effect when
	// there are no rules.
	Otherwise Otherwise

	// AllowEncodedSlash accepts %2F in every path; see Rule.AllowEncodedSlash.
	AllowEncodedSlash bool

	// CORS lists the origins of browser applications, as browsers send them
	// ("https://reader.example"), or the single "*". Empty: preflights are judged by the
	// rules like any other request, and answers keep the upstream's CORS fields.
	CORS []string

	// CORSUpstream lets preflights pass for the upstream to answer, if a rule knows the
	// method and path they ask about. The caller MUST pass them on with StripPreflight.
	// It excludes CORS.
	CORSUpstream bool

	// Attempts counts forged tokens and preflights by address; nil counts none.
	Attempts *lockout.Book

	// Forgeries is when an address raises Decision.ForgeryAlarm; it refuses nothing.
	// Default: DefaultForgeries.
	Forgeries lockout.Rule

	// ClientIP gives the address of the client, never from a header that the client
	// can set. Required with Attempts.
	ClientIP func(*http.Request) string

	// Admit decides whether a request is worked on when there are more than can be answered
	// in time; retryAfter is in seconds. raw is the token, "" for a request that needs none,
	// and known tells whether a token was checked before. It is called once for each request
	// that is not refused anyway, may wait some milliseconds and MUST NOT keep raw. Default: all are.
	Admit func(ctx context.Context, raw string, known func(raw string) bool) (retryAfter int, ok bool)

	// Now defaults to time.Now.
	Now func() time.Time
}

// cache is implemented by verifiers that remember tokens.
type cache interface {
	// Cached reports whether a token was verified before, so that verifying it again is
	// cheap. It may have been revoked since.
	Cached(raw string) bool
}

// Rule is one line of the policy.
type Rule struct {
	// Public lets requests pass without a token; whatever token they carry is ignored.
	Public bool

	// Scopes are those a token must have, all of them. Required unless Public.
	Scopes []string

	// Methods, in capitals; GET does not include HEAD. Empty or "*": every method.
	Methods []string

	// Paths: see the syntax at pattern. Required.
	Paths []string

	// AllowEncodedSlash accepts %2F inside a segment of paths this rule decides.
	// Such a path must fall under the same rule when the slash is decoded, and when
	// it is then joined with its neighbours, since nobody knows what the upstream sees.
	AllowEncodedSlash bool
}

// Guard decides requests. It is safe for concurrent use.
type Guard struct {
	verifier     Verifier
	issuer       string
	audience     string
	rules        []rule
	open         bool // what no rule matches needs just a valid token
	encoded      bool
	origins      origins
	corsUpstream bool // preflights are the upstream's to answer
	attempts     *lockout.Book
	forgeries    lockout.Rule
	clientIP     func(*http.Request) string
	admit        func(ctx context.Context, raw string, known func(raw string) bool) (retryAfter int, ok bool)
	cached       func(raw string) bool
	now          func() time.Time
	challenges   challenges
}

// New checks the configuration. Its errors name the pattern, method, scope or
// origin that is at fault.
func New(c Config) (*Guard, error) {
	if c.Verifier == nil || c.Issuer == "" {
		return nil, errors.New("guard: a verifier and an issuer are required")
	}
	if c.Attempts != nil && c.ClientIP == nil {
		return nil, errors.New("guard: counting attempts needs the client's address")
	}
	if c.Otherwise != Deny && c.Otherwise != Token {
		return nil, fmt.Errorf("guard: otherwise %d is neither deny nor token", c.Otherwise)
	}
	if c.CORSUpstream && len(c.CORS) > 0 {
		return nil, errors.New("guard: cors must be origins, or be left to the upstream, not both")
	}
	g := &Guard{
		verifier:     c.Verifier,
		issuer:       c.Issuer,
		audience:     orDefault(c.Audience, c.Issuer),
		open:         c.Otherwise == Token || len(c.Rules) == 0,
		encoded:      c.AllowEncodedSlash,
		corsUpstream: c.CORSUpstream,
		attempts:     c.Attempts,
		forgeries:    c.Forgeries,
		clientIP:     c.ClientIP,
		admit:        c.Admit,
		now:          c.Now,
	}
	if g.now == nil {
		g.now = time.Now
	}
	if g.admit == nil {
		g.admit = func(context.Context, string, func(string) bool) (int, bool) { return 0, true }
	}
	g.cached = func(string) bool { return false }
	if c, ok := c.Verifier.(cache); ok {
		g.cached = c.Cached
	}
	if g.forgeries == (lockout.Rule{}) {
		g.forgeries = DefaultForgeries
	}
	realm := orDefault(c.Realm, g.audience)
	var err error
	if g.challenges, err = newChallenges(realm, c.MetadataURL); err != nil {
		return nil, err
	}
	hidden := c.Hidden
	if hidden == nil {
		hidden = func(string) bool { return false }
	}
	if g.rules, err = compileRules(c.Rules, g.challenges, hidden); err != nil {
		return nil, err
	}
	if g.origins, err = compileOrigins(c.CORS); err != nil {
		return nil, err
	}
	return g, nil
}

func orDefault(s, otherwise string) string {
	if s == "" {
		return otherwise
	}
	return s
}

// rule is a Rule that was checked.
type rule struct {
	public    bool
	encoded   bool
	scopes    []string
	methods   []string // nil: every method
	paths     []pattern
	challenge string // of a token without the scopes
	missing   string // of a request without a token
	invalid   string // of a token that is refused
}

func compileRules(rules []Rule, challenges challenges, hidden func(string) bool) ([]rule, error) {
	var out []rule
	for i, c := range rules {
		r := rule{public: c.Public, encoded: c.AllowEncodedSlash, scopes: c.Scopes}
		switch {
		case c.Public && len(c.Scopes) > 0:
			return nil, fmt.Errorf("guard: rule %d is public and asks for scopes; it can be one of the two", i+1)
		case !c.Public && len(c.Scopes) == 0:
			return nil, fmt.Errorf("guard: rule %d names no scope, so any token would pass; name one or make it public", i+1)
		case len(c.Paths) == 0:
			return nil, fmt.Errorf("guard: rule %d names no path; /* is every path", i+1)
		}
		for _, s := range c.Scopes {
			if !oauth.ValidScope(s) {
				return nil, fmt.Errorf("guard: %q in rule %d is no scope (RFC 6749 section 3.3)", s, i+1)
			}
		}
		var err error
		if r.methods, err = compileMethods(c.Methods); err != nil {
			return nil, err
		}
		for _, text := range c.Paths {
			p, err := compilePattern(text, c.Public)
			if err != nil {
				return nil, err
			}
			r.paths = append(r.paths, p)
		}
		r.challenge, r.missing, r.invalid = challenges.scope(c.Scopes), challenges.missing, challenges.invalid
		if !c.Public && !slices.ContainsFunc(c.Scopes, hidden) {
			r.missing, r.invalid = challenges.of(c.Scopes)
		}
		if err := reachable(out, r); err != nil {
			return nil, err
		}
		out = append(out, r)
	}
	return out, nil
}
