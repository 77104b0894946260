package page

import (
	"errors"
	"net/http"

	"github.com/gatehouse/gatehouse/module/internal/authserver/refusal"
	"github.com/gatehouse/gatehouse/module/internal/httpx"
	"github.com/gatehouse/gatehouse/module/oauth"
)

// ReadForm reads the form of a request. Its errors are refusals.
func ReadForm(r *http.Request) (httpx.Form, error) {
	form, err := httpx.ReadForm(r)
	if err != nil {
		return form, BodyError(err)
	}
	return form, nil
}

// BodyError makes the refusal of a body that was not read. One that broke off is the sender's
// fault, not ours.
func BodyError(err error) error {
	var form *httpx.FormError
	if !errors.As(err, &form) {
		return oauth.E(oauth.InvalidRequest, "the body could not be read")
	}
	code := oauth.InvalidRequest
	switch form.Status {
	case http.StatusRequestEntityTooLarge:
		code = refusal.TooLarge
	case http.StatusRequestTimeout:
		code = refusal.TooSlow
	}
	return refusal.New(form.Status, code, form.Reason)
}
