package guard

import (
	"errors"
	"net/http"
	"slices"
	"strings"

	"github.com/gatehouse/gatehouse/module/internal/httpx"
	"github.com/gatehouse/gatehouse/module/internal/token"
	"github.com/gatehouse/gatehouse/module/oauth"
)

const (
	invalidToken   = "the access token is invalid, expired or revoked"
	tooMany        = "there are too many requests at the moment, try again later"
	retryTechnical = 1 // seconds
)

// Decide judges a request. It reads nothing but the method, the URL, and the
// headers Authorization, Origin, Access-Control-Request-Method and Referer: neither
// forwarded nor overriding headers have an effect. It does not change the request.
func (g *Guard) Decide(r *http.Request) Decision {
	inQuery := CarriesToken(r.URL.RawQuery)
	d := Decision{Rule: -1, Redact: inQuery || refererCarriesToken(r.Header)}
	if refusedMethod(r.Method) {
		d.Allow = allowed
		return d.refuse(BadRequest, http.StatusMethodNotAllowed, "method_not_allowed", "this method is not supported")
	}
	path, fault := requestPath(r)
	if !wellFormedMethod(r.Method) {
		fault = "the method is malformed"
	}
	if fault != "" {
		return d.refuse(BadRequest, http.StatusBadRequest, "bad_request", fault)
	}
	if path.escaped != r.URL.Path || r.URL.RawPath != "" {
		if path.escaped != r.URL.EscapedPath() {
			d.Path = path.escaped
		}
	}
	if inQuery {
		d.Challenge = g.challenges.request
		return d.refuse(BadRequest, http.StatusBadRequest, string(oauth.InvalidRequest),
			"an access token belongs into the Authorization header, not into the query")
	}
	preflight := isPreflight(r)
	switch {
	case preflight && !g.origins.none():
		d.Reason, d.Status = Preflight, http.StatusNoContent
		return d
	case preflight && g.corsUpstream:
		return g.passPreflight(r, d, path)
	}
	var safe bool
	if d.Rule, safe = g.ruleFor(r.Method, path); !safe {
		return d.refuse(BadRequest, http.StatusBadRequest, "bad_request", encodedSlash)
	}
	var needed *rule
	if d.Rule >= 0 {
		needed = &g.rules[d.Rule]
	}
	switch {
	case needed != nil && needed.public:
		if retryAfter, ok := g.admit(r.Context(), "", g.cached); !ok {
			d.RetryAfter = retryAfter
			return d.refuse(Overloaded, http.StatusServiceUnavailable, "unavailable", tooMany)
		}
		return d.pass(Public)
	case needed == nil && preflight: // it has no token, and a 401 would ask for one
		return d.refuse(NoRule, http.StatusForbidden, "forbidden", noPreflight)
	case needed == nil && !g.open:
		if strings.HasPrefix(path.judged, wellKnown) {
			// Clients probe for documents there and take 403 for a refusal to talk to them.
			return d.refuse(NoRule, http.StatusNotFound, "not_found", "there is no such well-known document")
		}
		return d.refuse(NoRule, http.StatusForbidden, "forbidden", "no rule permits this method and path")
	}
	return g.authenticate(r, d, needed)
}

// ruleFor finds the rule for a method and a path, -1 for none. It is not safe to let the
// request pass when the path has an encoded slash that is not permitted, or that leads to
// another rule once the upstream has decoded it.
func (g *Guard) ruleFor(method string, path normal) (at int, safe bool) {
	at = g.find(method, path.judged)
	if !path.slash {
		return at, true
	}
	permitted := g.encoded || at >= 0 && g.rules[at].encoded
	return at, permitted && g.find(method, path.decoded) == at && g.find(method, merged(path.decoded)) == at
}

// merged is how an upstream that decodes slashes and then joins them sees a path.
func merged(path string) string {
	for strings.Contains(path, "//") {
		path = strings.ReplaceAll(path, "//", "/")
	}
	return path
}

const encodedSlash = "the path contains an encoded slash"

// requestPath also refuses what the request line says besides a path: the absolute
// form, whose host some upstreams prefer, and a fragment, which Go reads as path.
func requestPath(r *http.Request) (normal, string) {
	if r.URL.Scheme != "" || r.URL.Host != "" || r.URL.Opaque != "" || r.RequestURI != "" && r.RequestURI[0] != '/' {
		return normal{}, "the request target must be a path"
	}
	if strings.IndexByte(r.RequestURI, '#') >= 0 {
		return normal{}, "the request target contains a fragment"
	}
	return normalise(r.URL)
}

func (g *Guard) find(method, path string) int {
	for i := range g.rules {
		if g.rules[i].matches(method, path) {
			return i
		}
	}
	return -1
}

func (g *Guard) authenticate(r *http.Request, d Decision, needed *rule) Decision {
	raw, kind := bearerToken(r.Header)
	switch kind {
	case none:
		d.Challenge = g.challenges.missing
		if needed != nil {
			d.Challenge = needed.missing
		}
		message := "an access token is needed"
		if r.Header.Get("Authorization") != "" { // often the token without the word in front
			message = "an access token is needed: the Authorization header must be `Bearer`, a space and the token"
		}
		return d.refuse(NoCredentials, http.StatusUnauthorized, "unauthorized", message)
	case malformed:
		d.Challenge = g.challenges.request
		return d.refuse(BadRequest, http.StatusBadRequest, string(oauth.InvalidRequest),
			"the Authorization header must hold one bearer token")
	}
	if retryAfter, ok := g.admit(r.Context(), raw, g.cached); !ok {
		d.RetryAfter = retryAfter
		return d.refuse(Overloaded, http.StatusServiceUnavailable, "unavailable", tooMany)
	}
	access, err := g.verify(r, raw)
	if errors.Is(err, token.ErrInvalid) {
		return g.invalid(r, d, needed, err)
	}
	if err != nil {
		d.Err, d.RetryAfter = err, retryTechnical
		return d.refuse(Unavailable, http.StatusServiceUnavailable, "unavailable",
			"the token cannot be checked at the moment, try again")
	}
	if needed != nil && !oauth.Subset(needed.scopes, access.Scopes) {
		d.Challenge = needed.challenge
		return d.refuse(InsufficientScope, http.StatusForbidden, string(oauth.InsufficientScope),
			"the access token lacks the scope that is needed")
	}
	d.Access = access
	return d.pass(Valid)
}

var errNoContent = errors.New("guard: the verifier returned neither a token nor an error")

// verify adds to the verifier's judgement what depends on this guard.
func (g *Guard) verify(r *http.Request, raw string) (*token.Access, error) {
	if len(raw) > maxToken {
		return nil, token.Refuse(token.Malformed, nil)
	}
	access, err := g.verifier.Verify(r.Context(), raw)
	switch {
	case err != nil:
		return nil, err
	case access == nil:
		return nil, errNoContent
	}
	return access, g.Check(access)
}

// Check judges a genuine token by what depends on this guard, apart from the scopes of its
// rules. Its errors are a [token.RefusedError].
func (g *Guard) Check(access *token.Access) error {
	switch {
	case access.Issuer != g.issuer:
		return token.Refuse(token.WrongIssuer, access)
	case !slices.Contains(access.Audience, g.audience):
		return token.Refuse(token.WrongAudience, access)
	case !g.now().Before(access.Expires):
		return token.Refuse(token.Expired, access)
	case len(access.Subject) > maxIdentity || len(access.Client) > maxIdentity:
		return token.Refuse(token.BadClaims, access)
	}
	return nil
}

// invalid answers a token that was refused: always 401, since clients refresh on no other
// status. Only forged tokens are counted, and only to raise an alarm: genuine ones that expired
// or were revoked are what honest clients present, and many clients may share one address.
// What a forgery costs is bounded by the verifier's cache of refused tokens and by Admit.
func (g *Guard) invalid(r *http.Request, d Decision, needed *rule, err error) Decision {
	d.Refusal = token.OtherRefusal
	var refused *token.RefusedError
	if errors.As(err, &refused) {
		d.Refusal, d.Refused = refused.Refusal, refused.Access
	}
	if g.attempts != nil && d.Refusal.Forged() {
		key := "forged:" + httpx.AddressKey(g.clientIP(r))
		g.attempts.Take(key, g.forgeries)
		d.ForgeryAlarm = g.attempts.NewlyRefused(key)
	}
	d.Challenge = g.challenges.invalid
	if needed != nil {
		d.Challenge = needed.invalid
	}
	return d.refuse(InvalidToken, http.StatusUnauthorized, string(oauth.InvalidToken), invalidToken)
}
