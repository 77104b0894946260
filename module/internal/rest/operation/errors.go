package operation

import (
	"errors"
	"fmt"
	"net/http"

	"github.com/gatehouse/gatehouse/module/internal/rest/responsewriter"
	"github.com/gatehouse/gatehouse/module/rest/envelope"
)

// late is an error after the header was passed on.
type late struct{ error }

// NewLate marks an error as late.
func NewLate(err error) error { return late{err} }

// Unwrap returns the error.
func (l late) Unwrap() error { return l.error }

// IsLate reports whether an error came after the header was passed on.
func IsLate(err error) bool {
	var l late
	return errors.As(err, &l)
}

// ErrBrokenOff is the cause of a BrokenOff when nothing else is known.
var ErrBrokenOff = errors.New("the upstream's answer was broken off")

// BrokenOff is the refusal for an answer of the API that ended too soon.
func BrokenOff(cause error) *envelope.Refusal {
	return envelope.Fail(http.StatusBadGateway, "upstream_error", "the service behind the gateway broke off its answer", cause)
}

// HeldError returns the error for an answer that was held: while the client has seen nothing of
// it, even a late error can still be answered with a status.
func HeldError(held *responsewriter.Hold, err error) error {
	var l late
	if !errors.As(err, &l) || held.Passed() {
		return err
	}
	return BrokenOff(l.error)
}

// Allow answers OPTIONS, and refuses any other method.
func Allow(w http.ResponseWriter, r *http.Request, methods string) error {
	w.Header().Set("Allow", methods)
	if r.Method == http.MethodOptions {
		w.WriteHeader(http.StatusNoContent)
		return nil
	}
	return envelope.Fail(http.StatusMethodNotAllowed, "", "", fmt.Errorf("method %s", r.Method))
}
