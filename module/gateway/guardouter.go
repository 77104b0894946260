package gateway

import (
	"net/http"

	"github.com/caddyserver/caddy/v2/modules/caddyhttp"

	"github.com/gatehouse/gatehouse/module/guard"
	"github.com/gatehouse/gatehouse/module/internal/token"
)

// outerVar is the request variable with the guards in front of the innermost one.
const outerVar = "gatehouse.guard.outer"

// passedGuard is a guard that a request has passed, and as whom.
type passedGuard struct {
	guard  *guard.Guard
	access *token.Access
	front  string       // what was taken from the path in front of it: see frontVar
	outer  *passedGuard // the one in front of it
}

// keepOuter is called by a guard before it says in the request's variables that it was passed.
// It keeps what they say of a guard in front: what else the caller may do is asked of both.
func keepOuter(r *http.Request) {
	g, ok := caddyhttp.GetVar(r.Context(), permitsVar).(*guard.Guard)
	if !ok {
		return
	}
	front, _ := caddyhttp.GetVar(r.Context(), frontVar).(string)
	caddyhttp.SetVar(r.Context(), outerVar, &passedGuard{g, caller(r), front, outerGuards(r)})
}

// outerGuards are the guards in front of the innermost one, nil for none.
func outerGuards(r *http.Request) *passedGuard {
	outer, _ := caddyhttp.GetVar(r.Context(), outerVar).(*passedGuard)
	return outer
}
