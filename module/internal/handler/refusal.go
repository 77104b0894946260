package handler

import (
	"errors"
	"net/http"

	"github.com/caddyserver/caddy/v2/modules/caddyhttp"

	"github.com/gatehouse/gatehouse/module/internal/httpx"
	"github.com/gatehouse/gatehouse/module/rest/envelope"
)

// Failure says why a handler refuses a request. It travels inside a [caddyhttp.HandlerError] to
// api_errors or to the site's own handle_errors.
type Failure struct {
	// Code, Message and Field are sent to the client.
	Code, Message, Field string

	Cause  error // for the log, never sent
	Silent bool  // not logged, because there may be very many
}

func (f *Failure) Error() string {
	if f.Cause != nil {
		return f.Code + ": " + f.Cause.Error()
	}
	return f.Code + ": " + f.Message
}

// Unwrap returns the cause.
func (f *Failure) Unwrap() error { return f.Cause }

// Error returns the error with which a handler refuses a request. Behind an api_errors, a fault of
// the client has no ID and no trace: nobody logs it, and the trace costs more than the answer. What
// failed because the client has gone is no fault of the gateway: its status is 499.
func Error(r *http.Request, status int, f *Failure) error {
	if status >= http.StatusInternalServerError && httpx.IsGone(r.Context(), f.Cause) {
		status = httpx.StatusClientGone
	}
	if status < http.StatusInternalServerError && Shaped(r) {
		return caddyhttp.HandlerError{StatusCode: status, Err: f}
	}
	return caddyhttp.Error(status, f)
}

// Refuse is [Error] for a refusal of the REST packages. It sets the refusal's header fields.
func Refuse(w http.ResponseWriter, r *http.Request, refused *envelope.Refusal) error {
	for name, values := range refused.Header {
		w.Header()[name] = values
	}
	return Error(r, refused.Status, &Failure{Code: refused.Code, Message: refused.Message, Field: refused.Field, Cause: refused.Cause})
}

// Unavailable returns the 503 for a request that cannot be decided or served for a technical
// reason.
func Unavailable(w http.ResponseWriter, cause error) error {
	return caddyhttp.Error(http.StatusServiceUnavailable, unavailable(w, cause))
}

// UnavailableTo is [Unavailable] where the client may have gone before there was a decision.
func UnavailableTo(w http.ResponseWriter, r *http.Request, cause error) error {
	return Error(r, http.StatusServiceUnavailable, unavailable(w, cause))
}

func unavailable(w http.ResponseWriter, cause error) *Failure {
	w.Header().Set("Retry-After", "1")
	return &Failure{Code: "unavailable", Message: "the service is temporarily unavailable, try again", Cause: cause}
}

// StatusOf returns the status with which Caddy answers an error.
func StatusOf(err error) int {
	if he, ok := errors.AsType[caddyhttp.HandlerError](err); ok && he.StatusCode != 0 {
		return he.StatusCode
	}
	return http.StatusInternalServerError
}

// Told returns what an error tells the client. It is empty for errors that are not a [Failure].
func Told(err error) envelope.Error {
	f, ok := errors.AsType[*Failure](err)
	if !ok {
		return envelope.Error{}
	}
	return envelope.Error{Code: f.Code, Message: f.Message, Field: f.Field}
}

// SetEnvelope records that api_errors answers the errors of a request. It is never undone: a
// proxy's goroutines may still read the variables after it has returned, and no handler in
// front of api_errors asks.
func SetEnvelope(r *http.Request, w *envelope.Writer) {
	factsToAdd(r).envelope = w
}

// Shaped reports whether an api_errors in front answers the errors of a request.
func Shaped(r *http.Request) bool { return factsOf(r).envelope != nil }

// KeepAnswer stops api_errors from changing a response whose form is prescribed by a protocol.
func KeepAnswer(r *http.Request) {
	if w := factsOf(r).envelope; w != nil {
		w.Untouched()
	}
}
