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

// Decide decides a request. It reads nothing but the method, the URL, the number of header
// fields, and the fields Authorization, Origin, Access-Control-Request-Method, Early-Data and
// Referer: neither forwarded nor overriding fields have an effect. It does not change the request.
func (g *Guard) Decide(r *http.Request) Decision {
	inQuery := CarriesToken(r.URL.RawQuery) || CarriesToken(queryInPath(r.URL))
	d := Decision{Rule: -1, Redact: inQuery || refererCarriesToken(r.Header)}
	if httpx.IsEarly(r) {
		return d.refuse(BadRequest, http.StatusTooEarly, "too_early", httpx.TooEarly)
	}
	if httpx.HasTooManyFields(r) { // the upstream might not read those that say who calls
		return d.refuse(BadRequest, http.StatusRequestHeaderFieldsTooLarge, "bad_request", httpx.TooManyFields)
	}
	if refusedMethod(r.Method) {
		d.Allow = commonMethods
		return d.refuse(BadRequest, http.StatusMethodNotAllowed, "method_not_allowed", "this method is not supported")
	}
	path, fault := requestPath(r)
	if !wellFormedMethod(r.Method) {
		fault = "the method is malformed"
	}
	if fault != "" {
		return d.refuse(BadRequest, http.StatusBadRequest, "bad_request", fault)
	}
	if (path.escaped != r.URL.Path || r.URL.RawPath != "") && path.escaped != r.URL.EscapedPath() {
		d.Path = path.escaped
	}
	if inQuery {
		d.Challenge = g.challenges.request
		return d.refuse(BadRequest, http.StatusBadRequest, string(oauth.InvalidRequest),
			"an access token belongs in the Authorization header, not in the query")
	}
	if d.Field = overridingParam(r.URL); d.Field != "" {
		return d.refuse(BadRequest, http.StatusBadRequest, "invalid_parameter", d.Field+" must not be there: the method of a request cannot be overridden")
	}
	preflight := isPreflight(r)
	switch {
	case preflight && len(g.config.CORS) > 0:
		d.Reason, d.Status = Preflight, http.StatusNoContent
		return d
	case preflight && g.config.CORSUpstream:
		return g.passPreflight(r, d, path)
	}
	var safe bool
	var needed *rule
	if d.Rule, needed, safe = g.ruleFor(r.Method, path); !safe {
		return d.refuse(BadRequest, http.StatusBadRequest, "bad_request", encodedSlash)
	}
	switch {
	case needed != nil && needed.Public:
		if !g.admit(r, "", &d) {
			return d
		}
		return d.pass(Public)
	case preflight && d.Rule < 0: // it has no token, and a 401 would ask for one
		return d.refuse(NoRule, http.StatusForbidden, "forbidden", noPreflight)
	case needed != nil:
		return g.judgeToken(r, d, needed)
	case strings.HasPrefix(path.judged, wellKnown):
		// Clients probe for documents there, and would take 403 for a refusal to talk to them.
		return d.refuse(NoRule, http.StatusNotFound, "not_found", "there is no such well-known document")
	}
	return d.refuse(NoRule, http.StatusForbidden, "forbidden", "no rule permits this method and path")
}

// admit refuses a request under overload.
func (g *Guard) admit(r *http.Request, raw string, d *Decision) bool {
	if g.config.Admit == nil {
		return true
	}
	retryAfter, ok := g.config.Admit(r.Context(), raw, g.cached)
	if !ok {
		d.RetryAfter = retryAfter
		*d = d.refuse(Overloaded, http.StatusServiceUnavailable, "unavailable", tooMany)
	}
	return ok
}

// ruleFor returns what a request for a method and a path needs, nil if nobody may send it, and the index of the rule that
// says so, or -1. Where upstreams may read several paths, the request needs what each of them does. safe is false for an
// encoded slash that is not permitted, or that leads to another rule once the upstream has decoded it.
func (g *Guard) ruleFor(method string, path normalPath) (at int, needed *rule, safe bool) {
	at, safe = g.match(method, path)
	needed = g.rule(at)
	for _, front := range path.fronts {
		other, safeFront := g.match(method, front)
		at, needed = g.both(at, needed, other)
		safe = safe && safeFront
	}
	return at, needed, safe
}

// match is ruleFor for one reading of a path.
func (g *Guard) match(method string, path normalPath) (at int, safe bool) {
	at = g.tree.find(method, path.judged)
	if !path.slash {
		return at, true
	}
	permitted := g.config.AllowEncodedSlash || at >= 0 && g.rules[at].AllowEncodedSlash
	return at, permitted && g.tree.find(method, path.decoded) == at && g.tree.find(method, mergeSlashes(path.decoded)) == at
}

// rule returns the rule with an index, or for -1 what applies without one: nil if nobody may pass.
func (g *Guard) rule(at int) *rule {
	switch {
	case at >= 0:
		return &g.rules[at]
	case g.open:
		return &g.unmatched
	}
	return nil
}

// both returns a rule for requests that two rules apply to. Of rules that ask for the same, the first decides.
func (g *Guard) both(at int, needed *rule, other int) (int, *rule) {
	more := g.rule(other)
	switch {
	case needed == nil || more == nil:
		return -1, nil
	case more.Public && !needed.Public:
		return at, needed
	case needed.Public && !more.Public:
		return other, more
	}
	if other >= 0 && (at < 0 || other < at) {
		at, needed, other, more = other, more, at, needed
	}
	switch {
	case oauth.Subset(more.Scopes, needed.Scopes):
		return at, needed
	case oauth.Subset(needed.Scopes, more.Scopes):
		return other, more
	}
	joint := Rule{Scopes: slices.Concat(needed.Scopes, more.Scopes)}
	slices.Sort(joint.Scopes)
	joint.Scopes = slices.Compact(joint.Scopes)
	return at, new(g.challenges.complete(joint, g.config.Hidden))
}

// mergeSlashes returns a path as seen by an upstream that decodes slashes and merges adjacent
// ones.
func mergeSlashes(path string) string {
	for strings.Contains(path, "//") {
		path = strings.ReplaceAll(path, "//", "/")
	}
	return path
}

const encodedSlash = "the path contains an encoded slash"

// requestPath normalizes the path. It refuses a request line with more than a path: the absolute
// form, whose host some upstreams prefer, and a fragment, which Go takes for a part of the path.
func requestPath(r *http.Request) (_ normalPath, fault string) {
	if r.URL.Scheme != "" || r.URL.Host != "" || r.URL.Opaque != "" || r.RequestURI != "" && r.RequestURI[0] != '/' {
		return normalPath{}, "the request target must be a path"
	}
	if strings.IndexByte(r.RequestURI, '#') >= 0 {
		return normalPath{}, "the request target contains a fragment"
	}
	if strings.IndexByte(r.URL.RawQuery, ' ') >= 0 { // HTTP/2 and HTTP/3 can carry one; it would end the target in HTTP/1
		return normalPath{}, "the query contains a space"
	}
	return normalizePath(r.URL)
}

// judgeToken decides a request that needs a token.
func (g *Guard) judgeToken(r *http.Request, d Decision, needed *rule) Decision {
	raw, kind := bearerToken(r.Header)
	switch kind {
	case noCredentials:
		d.Challenge = needed.missing
		message := "an access token is needed"
		if r.Header.Get("Authorization") != "" { // often the token without the word in front
			message = "an access token is needed: the Authorization header must be `Bearer`, a space and the token"
		}
		return d.refuse(NoCredentials, http.StatusUnauthorized, "unauthorized", message)
	case malformedCredentials:
		d.Challenge = g.challenges.request
		return d.refuse(BadRequest, http.StatusBadRequest, string(oauth.InvalidRequest),
			"the Authorization header must hold one bearer token")
	}
	if !g.admit(r, raw, &d) {
		return d
	}
	access, err := g.verifyToken(r, raw)
	if errors.Is(err, token.ErrInvalid) {
		return g.refuseToken(r, d, needed, err)
	}
	if err != nil {
		d.Err, d.RetryAfter = err, retryTechnical
		return d.refuse(Unavailable, http.StatusServiceUnavailable, "unavailable",
			"the token cannot be checked at the moment, try again")
	}
	if !oauth.Subset(needed.Scopes, access.Scopes) {
		d.Challenge, d.Refused = needed.challenge, access
		return d.refuse(InsufficientScope, http.StatusForbidden, string(oauth.InsufficientScope),
			"the access token lacks the scope that is needed")
	}
	d.Access = access
	return d.pass(Valid)
}

var errNoContent = errors.New("guard: the verifier returned neither a token nor an error")

// verifyToken verifies a token and checks what depends on this guard.
func (g *Guard) verifyToken(r *http.Request, raw string) (*token.Access, error) {
	if len(raw) > maxToken {
		return nil, token.Refuse(token.Malformed, nil)
	}
	access, err := g.config.Verifier.Verify(r.Context(), raw)
	switch {
	case err != nil:
		return nil, err
	case access == nil:
		return nil, errNoContent
	}
	return access, g.Check(access)
}

// Check checks what depends on this guard in a genuine token, apart from the scopes of its
// rules. Its errors are a [token.RefusedError].
func (g *Guard) Check(access *token.Access) error {
	switch {
	case access.Issuer != g.config.Issuer:
		return token.Refuse(token.WrongIssuer, access)
	case !slices.Contains(access.Audience, g.config.Audience):
		return token.Refuse(token.WrongAudience, access)
	case !g.config.Now().Before(access.Expires):
		return token.Refuse(token.Expired, access)
	case len(access.Subject) > maxIdentity || len(access.Client) > maxIdentity:
		return token.Refuse(token.BadClaims, access)
	}
	return nil
}

// refuseToken answers a refused token, always with 401, since clients refresh on no other
// status. Only forged tokens are counted, and only to raise an alarm: honest clients present
// genuine tokens that have expired or were revoked, and many clients may share an address. The
// verifier's cache of refused tokens and Admit bound what a forgery costs.
func (g *Guard) refuseToken(r *http.Request, d Decision, needed *rule, err error) Decision {
	d.Refusal = token.OtherRefusal
	if refused, ok := errors.AsType[*token.RefusedError](err); ok {
		d.Refusal, d.Refused = refused.Refusal, refused.Access
	}
	if attempts := g.config.Attempts; attempts != nil && d.Refusal.Forged() {
		key := "forged:" + httpx.AddressKey(g.config.ClientIP(r))
		attempts.Take(key, g.config.Forgeries)
		d.ForgeryAlarm = attempts.NewlyRefused(key)
	}
	d.Challenge = needed.invalid
	return d.refuse(InvalidToken, http.StatusUnauthorized, string(oauth.InvalidToken), invalidToken)
}
