package gateway

import (
	"net/http"
	"slices"
	"strings"

	"github.com/caddyserver/caddy/v2"
	"github.com/caddyserver/caddy/v2/modules/caddyhttp"

	"github.com/gatehouse/gatehouse/module/internal/token"
	"github.com/gatehouse/gatehouse/module/oauth"
)

// routeVar is the request variable that names the rule that decided.
const routeVar = "gatehouse.route"

// accessVar is the request variable with the accepted token's content.
const accessVar = "gatehouse.access"

// namesVar is the request variable with what knows the name of the accepted token's user.
const namesVar = "gatehouse.names"

// identityShownVar is set once a request has the placeholders that say who calls.
const identityShownVar = "gatehouse.identity_shown"

// identify tells later handlers, logs and matchers who calls; a is nil for nobody.
func identify(r *http.Request, a *token.Access, known *names) {
	if a != nil {
		caddyhttp.SetVar(r.Context(), accessVar, a)
		caddyhttp.SetVar(r.Context(), namesVar, known)
	}
	ShowIdentity(r)
}

// ShowIdentity makes the placeholders {http.auth.user.*} of a request. They are empty until a
// guard has accepted a token: an unknown placeholder would reach the API as its own name in
// braces, which an API may take for an identity. What they say is read from the request each
// time, so an earlier handler can make them and nothing is left over for another request.
func ShowIdentity(r *http.Request) {
	if shown, ok := caddyhttp.GetVar(r.Context(), identityShownVar).(bool); ok && shown {
		return
	}
	repl, ok := r.Context().Value(caddy.ReplacerCtxKey).(*caddy.Replacer)
	if !ok {
		return
	}
	caddyhttp.SetVar(r.Context(), identityShownVar, true)
	repl.Map(func(key string) (any, bool) {
		if !strings.HasPrefix(key, identityPlaceholders) {
			return nil, false
		}
		a := caller(r)
		if a == nil {
			a = new(token.Access)
		}
		switch key[len(identityPlaceholders):] {
		case "id":
			return a.Subject, true
		case "client_id":
			return a.Client, true
		case "scope":
			return oauth.JoinScopes(a.Scopes), true
		case "name": // looked up only where a configuration asks for it
			known, ok := caddyhttp.GetVar(r.Context(), namesVar).(*names)
			if !ok || a.Subject == "" {
				return "", true
			}
			return known.of(r.Context(), a.Subject), true
		}
		return nil, false
	})
}

// identityPlaceholders is what the names of the placeholders begin with.
const identityPlaceholders = "http.auth.user."

// literalIdentity empties the placeholders where a handler in front of the guard has written
// them as they stand, because nothing knew them yet.
var literalIdentity = strings.NewReplacer(
	"{"+identityPlaceholders+"id}", "", "{"+identityPlaceholders+"client_id}", "",
	"{"+identityPlaceholders+"scope}", "", "{"+identityPlaceholders+"name}", "",
)

func emptyLiterals(h http.Header) {
	for name, values := range h {
		for i, v := range values {
			if !strings.Contains(v, "{"+identityPlaceholders) {
				continue
			}
			values = slices.Clone(values) // it may be shared with the configuration
			values[i] = literalIdentity.Replace(v)
			h[name] = values
		}
	}
}

// caller is the accepted token's content, nil when there is none.
func caller(r *http.Request) *token.Access {
	a, _ := caddyhttp.GetVar(r.Context(), accessVar).(*token.Access)
	return a
}
