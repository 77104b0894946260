package admin

import (
	"errors"
	"log/slog"
	"net/http"
	"regexp"

	"github.com/gatehouse/gatehouse/module/rest/envelope"
)

// refusal is an error that says what the caller did wrong. Every other error is technical.
type refusal struct {
	status int
	told   envelope.Error
}

func (r *refusal) Error() string { return r.told.Code + ": " + r.told.Message }

func refuse(status int, told envelope.Error) error { return &refusal{status, told} }

// Refuse is an error for [WriteError] that tells the caller why a request is refused.
func Refuse(status int, code, message string) error {
	return refuse(status, envelope.Error{Code: code, Message: message})
}

func notFound(message string) error {
	return refuse(http.StatusNotFound, envelope.Error{Code: "not_found", Message: message})
}

func conflict(message string) error {
	return refuse(http.StatusConflict, envelope.Error{Code: "conflict", Message: message})
}

func badField(field, message string) error {
	return refuse(http.StatusBadRequest, envelope.Error{Code: "invalid_parameter", Message: field + ": " + message, Field: field})
}

// statusOf is the status of a refusal, 0 for every other error.
func statusOf(err error) int {
	var refused *refusal
	if errors.As(err, &refused) {
		return refused.status
	}
	return 0
}

// WriteError answers a refusal as it is, and anything else with 503: what is behind the API is
// the store, and a caller may try again.
func WriteError(w http.ResponseWriter, r *http.Request, log *slog.Logger, err error) {
	var refused *refusal
	if errors.As(err, &refused) {
		envelope.Write(w, r, refused.status, refused.told)
		return
	}
	log.Error("the admin API could not answer", "method", r.Method, "path", r.URL.Path, "error", err)
	w.Header().Set("Retry-After", "1")
	envelope.Write(w, r, http.StatusServiceUnavailable, envelope.Error{
		Code: "unavailable", Message: "the store or the user directory cannot be used at the moment; the log of the gateway says why",
	})
}

// credentials are what may stand before the @ of an address.
var credentials = regexp.MustCompile(`://[^\s"]*@`)

// WithoutCredentials is an error's text for an answer. Stores keep passwords out of their
// errors; this hides them in an address that an error quotes all the same.
func WithoutCredentials(err error) string {
	return credentials.ReplaceAllString(err.Error(), "://REDACTED@")
}
