package handler

import (
	"net/http"
	"slices"
	"strings"

	"github.com/caddyserver/caddy/v2"

	"github.com/gatehouse/gatehouse/module/guard"
	"github.com/gatehouse/gatehouse/module/internal/token"
	"github.com/gatehouse/gatehouse/module/oauth"
)

// identityPrefix is the prefix of the placeholders that describe the caller.
const identityPrefix = "http.auth.user."

// Identify records a as the caller of a request, for later handlers, logs and matchers. a is nil
// for a request without an accepted token.
func Identify(r *http.Request, a *token.Access, known *UserNames) {
	if a != nil {
		f := factsToAdd(r)
		f.access, f.names = a, known
	}
	AddPlaceholders(r)
}

// Caller returns the content of the token that a guard in front has accepted, or nil.
func Caller(r *http.Request) *token.Access { return factsOf(r).access }

// AddPlaceholders adds the placeholders {http.auth.user.*} and {http.api_limit.*} to a request. They
// are empty until a guard has accepted a token, or a limit has decided: an unknown placeholder would
// reach the API as its own name in braces, which an API may take for an identity. Their values are
// read from the request each time, so an earlier handler can add them and none is left over for
// another request.
func AddPlaceholders(r *http.Request) {
	f := factsToAdd(r)
	if f.shown {
		return
	}
	repl, ok := r.Context().Value(caddy.ReplacerCtxKey).(*caddy.Replacer)
	if !ok {
		return
	}
	f.shown = true
	repl.Map(func(key string) (any, bool) {
		if name, ok := strings.CutPrefix(key, identityPrefix); ok {
			return f.identityValue(r, name)
		}
		if name, ok := strings.CutPrefix(key, limitPrefix); ok {
			return f.limitValue(name)
		}
		return nil, false
	})
}

func (f *facts) identityValue(r *http.Request, name string) (any, bool) {
	a := f.access
	if a == nil {
		a = new(token.Access)
	}
	switch name {
	case "id":
		return a.Subject, true
	case "client_id":
		return a.Client, true
	case "scope":
		return oauth.JoinScopes(a.Scopes), true
	case "name": // looked up only where a configuration asks for it
		if f.names == nil || a.Subject == "" {
			return "", true
		}
		return f.names.name(r.Context(), a.Subject), true
	}
	return nil, false
}

// literalIdentity removes unreplaced placeholders.
var literalIdentity = strings.NewReplacer(
	"{"+identityPrefix+"id}", "", "{"+identityPrefix+"client_id}", "",
	"{"+identityPrefix+"scope}", "", "{"+identityPrefix+"name}", "",
)

// EmptyIdentityLiterals removes identity placeholders that a handler in front of the guard left
// unreplaced, because they were not known yet.
func EmptyIdentityLiterals(h http.Header) {
	for name, values := range h {
		for i, v := range values {
			if !strings.Contains(v, "{"+identityPrefix) {
				continue
			}
			values = slices.Clone(values) // it may be shared with the configuration
			values[i] = literalIdentity.Replace(v)
			h[name] = values
		}
	}
}

// SetIdentityHeaders records which header fields tell the upstream about the caller.
func SetIdentityHeaders(r *http.Request, identity *guard.Identity) {
	factsToAdd(r).identity = identity
}

// PassedGuard reports whether a request came through a guard, one in shadow mode included.
func PassedGuard(r *http.Request) bool { return factsOf(r).identity != nil }

// IdentityHeader returns the header fields by which the guard in front tells the upstream about
// the caller, or nil without a guard. The token is not among them.
func IdentityHeader(r *http.Request) http.Header {
	identity := factsOf(r).identity
	if identity == nil {
		return nil
	}
	h := make(http.Header)
	for _, name := range identity.Names() {
		if values := r.Header[name]; len(values) > 0 {
			h[name] = values
		}
	}
	return h
}
