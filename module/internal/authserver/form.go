package authserver

import (
	"errors"
	"net/http"

	"github.com/gatehouse/gatehouse/module/internal/httpx"
	"github.com/gatehouse/gatehouse/module/oauth"
)

// clientForm reads the form of an endpoint that programs call. A query is refused: the
// address is no place for what logs must not keep. Errors are *oauth.Error.
func clientForm(r *http.Request, repeatable ...string) (httpx.Form, error) {
	if r.URL.RawQuery != "" {
		return httpx.Form{}, oauth.E(oauth.InvalidRequest, "parameters belong in the body, not in the address")
	}
	form, err := httpx.ReadForm(r, repeatable...)
	if err != nil {
		return httpx.Form{}, formError(err)
	}
	return form, nil
}

// formError is the answer to a form that was not read.
func formError(err error) *oauth.Error {
	if e := (*httpx.FormError)(nil); errors.As(err, &e) {
		return oauth.E(oauth.InvalidRequest, e.Reason).WithStatus(e.Status)
	}
	// The connection broke, or was too slow: no cause worth a line in the log.
	return oauth.E(oauth.InvalidRequest, "the body could not be read")
}
