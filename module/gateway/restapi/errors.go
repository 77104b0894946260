package restapi

import (
	"errors"
	"net/http"

	"github.com/gatehouse/gatehouse/module/internal/handler"
	"github.com/gatehouse/gatehouse/module/internal/rest/operation"
	"github.com/gatehouse/gatehouse/module/rest/envelope"
)

// The stages of a request return an *envelope.Refusal for every failure of their own; handlers
// behind this one return Caddy's errors.

// statusOf returns the status that an error is answered with.
func statusOf(err error) int {
	var refused *envelope.Refusal
	if errors.As(err, &refused) {
		return refused.Status
	}
	return handler.StatusOf(err)
}

// told returns what the client is told about an error.
func told(err error) envelope.Error {
	var refused *envelope.Refusal
	if errors.As(err, &refused) {
		return refused.Told()
	}
	return handler.Told(err)
}

// answerError gives an error to the api_errors in front, or to the site's handle_errors. Where
// there is no api_errors it answers in its place: whatever Caddy would do with the error, nobody
// would see the form of the API.
func (h *REST) answerError(w http.ResponseWriter, r *http.Request, err error) error {
	if operation.IsLate(err) {
		return err
	}
	var refused *envelope.Refusal
	if errors.As(err, &refused) {
		err = handler.Refuse(w, r, refused)
	}
	if handler.Shaped(r) {
		return err
	}
	status := handler.StatusOf(err)
	if status >= http.StatusInternalServerError {
		h.log.Error("request failed", "status", status, "error", err, "method", r.Method, "path", r.URL.Path)
	}
	h.dialect.Write(w, r, status, handler.Told(err))
	return nil
}
