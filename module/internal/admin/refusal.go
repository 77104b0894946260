package admin

import (
	"errors"
	"log/slog"
	"net/http"
	"regexp"

	"github.com/gatehouse/gatehouse/module/directory"
	"github.com/gatehouse/gatehouse/module/internal/clientstore"
	"github.com/gatehouse/gatehouse/module/internal/userstore"
	"github.com/gatehouse/gatehouse/module/oauth"
	"github.com/gatehouse/gatehouse/module/rest/envelope"
	"github.com/gatehouse/gatehouse/module/store"
)

// refusal is an error that says what the caller did wrong. Every other error is technical.
type refusal struct {
	status int
	told   envelope.Error
}

func (r *refusal) Error() string { return r.told.Code + ": " + r.told.Message }

// Refuse is an error for [WriteError] that tells the caller why a request is refused.
func Refuse(status int, code, message string) error {
	return &refusal{status, envelope.Error{Code: code, Message: message}}
}

func notFound(message string) error { return Refuse(http.StatusNotFound, "not_found", message) }

func badRequest(message string) error { return Refuse(http.StatusBadRequest, "bad_request", message) }

func conflict(field, message string) error {
	return &refusal{http.StatusConflict, envelope.Error{Code: "conflict", Field: field, Message: message}}
}

func badField(field, message string) error { return invalid(field, field+": "+message) }

func invalid(field, message string) error {
	return &refusal{http.StatusBadRequest, envelope.Error{Code: "invalid_parameter", Message: message, Field: field}}
}

// refusalOf turns errors of the store and of the clients and users in it into refusals.
func (c *call) refusalOf(err error) error {
	var client *oauth.FieldError
	var user *directory.FieldError
	switch {
	case errors.Is(err, store.ErrBusy):
		return conflict("", store.ErrBusy.Error()+": try again when that is done")
	case errors.Is(err, clientstore.ErrNotFound):
		return notFound("there is no client " + c.names[0])
	case errors.Is(err, clientstore.ErrExists):
		return conflict("id", "id: a client of this id exists")
	case errors.As(err, &client):
		return invalid(client.Field(), err.Error())
	case errors.Is(err, userstore.ErrNotFound):
		return c.noUser()
	case errors.Is(err, userstore.ErrTaken):
		return conflict("username", "username: it is another user's already")
	case errors.Is(err, userstore.ErrInvalid) && errors.As(err, &user):
		return invalid(user.Field, err.Error())
	case errors.Is(err, userstore.ErrInvalid):
		return invalid("", err.Error())
	}
	return err
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
