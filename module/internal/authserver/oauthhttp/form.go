package oauthhttp

import (
	"errors"
	"net/http"

	"github.com/gatehouse/gatehouse/module/internal/httpx"
	"github.com/gatehouse/gatehouse/module/oauth"
)

// ReadForm reads the form of a request whose body is limited already. A query is refused, because addresses are
// logged and parameters may be secrets. Errors are [oauth.Error].
func ReadForm(r *http.Request, repeatable ...string) (httpx.Form, error) {
	if r.URL.RawQuery != "" {
		return httpx.Form{}, oauth.E(oauth.InvalidRequest, "parameters belong in the body, not in the address")
	}
	form, err := httpx.ReadForm(r, repeatable...)
	if err != nil {
		return httpx.Form{}, BodyError(err, oauth.InvalidRequest)
	}
	return form, nil
}

// BodyError turns an error of [httpx.ReadForm] or [httpx.ReadBody] into the answer to the sender.
func BodyError(err error, code oauth.Code) error {
	if e := (*httpx.FormError)(nil); errors.As(err, &e) {
		return oauth.E(code, e.Reason).WithStatus(e.Status)
	}
	// The connection broke or was too slow: not worth a line in the log.
	return oauth.E(code, "the body could not be read")
}
