package guard

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/gatehouse/gatehouse/module/internal/lockout"
	"github.com/gatehouse/gatehouse/module/internal/token"
	"github.com/gatehouse/gatehouse/module/oauth"
)

// Verifier verifies access tokens.
type Verifier interface {
	// Verify MUST return an error that matches token.ErrInvalid for a token that is not
	// acceptable at this moment, and any other error only for a technical reason. The former
	// SHOULD be a token.RefusedError, whose reason the operator is told.
	// It MUST check signature, type, expiry and revocation on every call, MUST be safe
	// for concurrent use and MUST NOT keep raw. The guard itself checks issuer, audience and
	// scopes, on every request, so that a cached result serves many routes.
	Verify(ctx context.Context, raw string) (*token.Access, error)
}

// Otherwise is what happens to a request that no rule matches.
type Otherwise int

const (
	Deny  Otherwise = iota // 403
	Token                  // any valid token passes
)

// DefaultForgeries is how many forged tokens an address may present before it raises an alarm,
// and how long it takes until it can raise another one.
var DefaultForgeries = lockout.Rule{Limit: 60, Window: time.Minute, Lock: 15 * time.Minute}

// Config configures a guard. Verifier and Issuer are required.
type Config struct {
	Verifier Verifier

	// Issuer is the only accepted iss, compared byte for byte.
	Issuer string

	// Audience must be among a token's audiences. Default: the issuer.
	Audience string

	// Realm of the challenges. Default: the audience.
	Realm string

	// MetadataURL is the address of the resource's metadata (RFC 9728); challenges name it.
	// Default: none.
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

	// AllowEncodedSlash accepts %2F in every path; see [Rule].
	AllowEncodedSlash bool

	// CORS lists the origins of browser applications, as browsers send them
	// ("https://reader.example"), or the single "*". Empty: preflights are judged by the
	// rules like any other request, and responses keep the upstream's CORS fields.
	CORS []string

	// CORSUpstream lets preflights pass for the upstream to answer, if a rule matches the
	// method and path they ask about. The caller MUST pass them on with StripPreflight.
	// It excludes CORS.
	CORSUpstream bool

	// Attempts counts forged tokens and preflights by address; nil counts none.
	Attempts *lockout.Book

	// Forgeries is when an address raises Decision.ForgeryAlarm; it refuses nothing.
	// Default: DefaultForgeries.
	Forgeries lockout.Rule

	// ClientIP returns the address of the client, never from a header that the client
	// can set. Required with Attempts.
	ClientIP func(*http.Request) string

	// Admit decides under overload whether to work on a request; retryAfter is in seconds.
	// raw is the token, "" for a request that needs none, and known reports whether a token
	// was verified before. It is called once for each request that is not refused anyway, may
	// wait some milliseconds and MUST NOT keep raw. Default: all are admitted.
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
	// Lets requests pass without a token; a token they carry is ignored.
	Public bool `json:"public,omitempty"`
	// Scopes a token must have, all of them. Required unless `public`.
	Scopes []string `json:"scopes,omitempty"`
	// Methods in capitals; `GET` does not include `HEAD`. Default: every method, as with `*`.
	Methods []string `json:"methods,omitempty"`
	// Paths; `/*` at the end matches everything below, `*` one segment. Required.
	Paths []string `json:"paths,omitempty"`
	// Accepts `%2F` within a segment of these paths. The same rule must also match the path
	// with the slash decoded, and with it then merged with its neighbours, since nobody
	// knows what the upstream sees.
	AllowEncodedSlash bool `json:"allow_encoded_slash,omitempty"`
}

// Guard decides requests. It is safe for concurrent use.
type Guard struct {
	config     Config // with defaults
	rules      []rule
	tree       ruleTree // of the rules
	unmatched  rule     // decides what no rule matches: any valid token passes, if open
	open       bool
	cached     func(raw string) bool
	challenges challenges
}

// New checks the configuration. Its errors name the pattern, method, scope or
// origin that is at fault.
func New(c Config) (*Guard, error) {
	switch {
	case c.Verifier == nil || c.Issuer == "":
		return nil, errors.New("guard: a verifier and an issuer are required")
	case c.Attempts != nil && c.ClientIP == nil:
		return nil, errors.New("guard: counting attempts needs the client's address")
	case c.Otherwise != Deny && c.Otherwise != Token:
		return nil, fmt.Errorf("guard: otherwise %d is neither deny nor token", c.Otherwise)
	case c.CORSUpstream && len(c.CORS) > 0:
		return nil, errors.New("guard: cors must be origins, or be left to the upstream, not both")
	}
	if err := checkOrigins(c.CORS); err != nil {
		return nil, err
	}
	c.Audience = cmp.Or(c.Audience, c.Issuer)
	c.Forgeries = cmp.Or(c.Forgeries, DefaultForgeries)
	if c.Now == nil {
		c.Now = time.Now
	}
	g := &Guard{config: c, open: c.Otherwise == Token || len(c.Rules) == 0, cached: func(string) bool { return false }}
	if v, ok := c.Verifier.(cache); ok {
		g.cached = v.Cached
	}
	var err error
	if g.challenges, err = newChallenges(cmp.Or(c.Realm, c.Audience), c.MetadataURL); err != nil {
		return nil, err
	}
	g.unmatched = rule{missing: g.challenges.missing, invalid: g.challenges.invalid}
	g.rules, err = g.tree.addRules(c.Rules, g.challenges, c.Hidden)
	return g, err
}

// rule is a checked Rule. Methods is nil for every method.
type rule struct {
	Rule
	paths     []pattern
	challenge string // for a token without the scopes
	missing   string // for a request without a token
	invalid   string // for a token that is refused
}

// complete makes the challenges of a rule. Those of a 401 name the scopes (RFC 6750 section 3), so that a client need not
// ask for all it may have, unless one is hidden.
func (c challenges) complete(stated Rule, hidden func(string) bool) rule {
	scope := `, scope="` + strings.Join(stated.Scopes, " ") + `"`
	r := rule{Rule: stated, missing: c.missing, invalid: c.invalid}
	r.challenge = c.withParams(`, error="insufficient_scope"` + scope)
	if !stated.Public && (hidden == nil || !slices.ContainsFunc(stated.Scopes, hidden)) {
		r.missing, r.invalid = c.withParams(scope), c.withParams(invalidTokenParams+scope)
	}
	return r
}

// addRules checks rules, makes their challenges and adds them to an empty tree.
func (t *ruleTree) addRules(rules []Rule, challenges challenges, hidden func(string) bool) (out []rule, err error) {
	out = make([]rule, 0, len(rules))
	for i, c := range rules {
		r := challenges.complete(c, hidden)
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
		if r.Methods, err = compileMethods(c.Methods); err != nil {
			return nil, err
		}
		for _, text := range c.Paths {
			p, err := compilePattern(text, c.Public)
			if err != nil {
				return nil, err
			}
			r.paths = append(r.paths, p)
		}
		if err := t.checkReachable(out, r); err != nil {
			return nil, err
		}
		out = append(out, r)
		t.add(i, &r)
	}
	return out, nil
}

// CheckRule reports what is wrong with a rule by itself.
func CheckRule(r Rule) error {
	_, err := new(ruleTree).addRules([]Rule{r}, challenges{}, nil)
	return err
}
