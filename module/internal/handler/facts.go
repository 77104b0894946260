package handler

import (
	"net/http"

	"github.com/caddyserver/caddy/v2/modules/caddyhttp"

	"github.com/gatehouse/gatehouse/module/guard"
	"github.com/gatehouse/gatehouse/module/internal/token"
	"github.com/gatehouse/gatehouse/module/rest/envelope"
)

// factsVar is the request variable that holds the [facts]. All are in one variable: each one more
// would take a place in a map, which is slow to grow.
const factsVar = "gatehouse"

// facts are what the handlers in front have found out about a request.
type facts struct {
	shown    bool             // the request has the placeholders
	envelope *envelope.Writer // of the innermost api_errors
	limit    LimitDecision    // of the last limit
	identity *guard.Identity  // of the last guard
	access   *token.Access    // the content of the accepted token
	names    *UserNames       // know the name of its user
	guard    *guard.Guard     // the innermost that the request has passed
	front    string           // what had been taken from the path in front of it
	seen     seenPath         // the rest of the path, which the guard saw
	outer    *passedGuard     // the guards in front of it
	route    string           // the name of the guard's rule that let it pass
	refusal  error            // why the authentication provider refused
	observed *Observation     // for those who watch; nil if nobody does
}

var noFacts facts

// factsOf returns the facts about a request, which MUST NOT be changed.
func factsOf(r *http.Request) *facts {
	if f := getVar[*facts](r, factsVar); f != nil {
		return f
	}
	return &noFacts
}

// factsToAdd returns the facts about a request to add one.
func factsToAdd(r *http.Request) *facts {
	f := getVar[*facts](r, factsVar)
	if f == nil {
		f = new(facts)
		caddyhttp.SetVar(r.Context(), factsVar, f)
	}
	return f
}

// CopyFacts gives a copy of a request's variables facts of its own, without api_errors: no handler
// in front answers the errors of the request that it is for, and nobody watches it.
func CopyFacts(vars map[string]any) {
	if f, ok := vars[factsVar].(*facts); ok {
		own := *f
		own.envelope, own.observed = nil, &partOfAnother
		vars[factsVar] = &own
	}
}
