package handler

import (
	"errors"
	"net/http"

	"github.com/caddyserver/caddy/v2/modules/caddyhttp"
)

// refusalVar is the request variable that holds why the authentication provider refused.
const refusalVar = "gatehouse.refusal"

// RecordRefusal records why the authentication provider refuses a request: Caddy's handler
// `authentication` makes a 401 without a reason of every refusal.
func RecordRefusal(r *http.Request, err error) { caddyhttp.SetVar(r.Context(), refusalVar, err) }

// WithReason returns the recorded refusal instead of a 401 without a reason, and any other error as
// it is.
func WithReason(r *http.Request, err error) error {
	var f *Failure
	if StatusOf(err) != http.StatusUnauthorized || errors.As(err, &f) {
		return err
	}
	if refused := getVar[error](r, refusalVar); refused != nil {
		return refused
	}
	return err
}
