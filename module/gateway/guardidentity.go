package gateway

import (
	"net/http"

	"github.com/caddyserver/caddy/v2"
	"github.com/caddyserver/caddy/v2/modules/caddyhttp"

	"github.com/gatehouse/gatehouse/module/directory"
	"github.com/gatehouse/gatehouse/module/oauth"
	"github.com/gatehouse/gatehouse/module/token"
)

// routeVar is the request variable that names the rule that decided.
const routeVar = "gatehouse.route"

// accessVar is the request variable with the accepted token's content.
const accessVar = "gatehouse.access"

// identify tells later handlers, logs and matchers who calls; a is nil for nobody. Then
// the placeholders are empty: an unknown one would reach the API as its own name in braces.
func identify(r *http.Request, a *token.Access, users directory.Directory) {
	if a != nil {
		caddyhttp.SetVar(r.Context(), accessVar, a)
	} else {
		a = new(token.Access)
	}
	repl, ok := r.Context().Value(caddy.ReplacerCtxKey).(*caddy.Replacer)
	if !ok {
		return
	}
	repl.Map(func(key string) (any, bool) {
		switch key {
		case "http.auth.user.id":
			return a.Subject, true
		case "http.auth.user.client_id":
			return a.Client, true
		case "http.auth.user.scope":
			return oauth.JoinScopes(a.Scopes), true
		case "http.auth.user.name": // looked up only where a configuration asks for it
			if a.Subject == "" {
				return "", true
			}
			user, _, err := users.Lookup(r.Context(), a.Subject)
			if err != nil {
				return "", true // a name decorates; nothing is decided by it
			}
			return user.Name, true
		}
		return nil, false
	})
}

// caller is the accepted token's content, nil when there is none.
func caller(r *http.Request) *token.Access {
	a, _ := caddyhttp.GetVar(r.Context(), accessVar).(*token.Access)
	return a
}
