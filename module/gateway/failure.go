package gateway

import (
	"errors"
	"net/http"

	"github.com/caddyserver/caddy/v2/modules/caddyhttp"
)

// failure is a refusal by one of our handlers, for api_errors or the site's own
// handle_errors to write.
type failure struct {
	code    string
	message string
	field   string
	cause   error // for the log; never sent
	silent  bool  // no line in the log: there are too many
}

func (f *failure) Error() string {
	if f.cause != nil {
		return f.code + ": " + f.cause.Error()
	}
	return f.code + ": " + f.message
}

func (f *failure) Unwrap() error { return f.cause }

// fail refuses a request. What the client should see is in f, never in a cause.
func fail(status int, f *failure) error { return caddyhttp.Error(status, f) }

// unavailable is the answer to a request that cannot be judged, for a technical reason.
func unavailable(w http.ResponseWriter, err error) error {
	w.Header().Set("Retry-After", "1")
	return fail(http.StatusServiceUnavailable, &failure{code: "unavailable", message: "the service is temporarily unavailable, try again", cause: err})
}

// statusOf is the status an error would be answered with, as Caddy does it.
func statusOf(err error) int {
	var he caddyhttp.HandlerError
	if errors.As(err, &he) && he.StatusCode != 0 {
		return he.StatusCode
	}
	return http.StatusInternalServerError
}
