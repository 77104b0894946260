package handler

import (
	"errors"
	"net/http"
)

// RecordRefusal records why the authentication provider refuses a request: Caddy's handler
// `authentication` makes a 401 without a reason of every refusal.
func RecordRefusal(r *http.Request, err error) { factsToAdd(r).refusal = err }

// WithReason returns the recorded refusal instead of a 401 without a reason, and any other error as
// it is.
func WithReason(r *http.Request, err error) error {
	if StatusOf(err) != http.StatusUnauthorized {
		return err
	}
	if _, ok := errors.AsType[*Failure](err); ok {
		return err
	}
	if refused := factsOf(r).refusal; refused != nil {
		return refused
	}
	return err
}
