package oauthhttp

import (
	"errors"
	"fmt"
	"net/http"
	"strings"

	"github.com/gatehouse/gatehouse/module/oauth"
)

// ErrNoToken refuses a request without an access token.
var ErrNoToken = oauth.E(oauth.InvalidToken, "an access token is needed")

// BearerToken returns the token of the Authorization header (RFC 6750 section 2.1), "" when there is none. Errors are
// [oauth.Error].
func BearerToken(r *http.Request) (string, error) {
	values := r.Header.Values("Authorization")
	if len(values) == 0 {
		return "", nil
	}
	scheme, raw, _ := strings.Cut(values[0], " ")
	raw = strings.Trim(raw, " ")
	switch {
	case len(values) > 1:
		return "", oauth.E(oauth.InvalidRequest, "there are two Authorization headers")
	case !strings.EqualFold(scheme, "Bearer"):
		return "", nil
	case raw == "" || strings.ContainsAny(raw, " ,\""):
		return "", oauth.E(oauth.InvalidRequest, "the Authorization header is malformed")
	}
	return raw, nil
}

// SetChallenge sets WWW-Authenticate for a refused access token (RFC 6750 section 3); scope is what a token needs.
// Without a token the header carries no error code, since the client may not have known that one is needed. Technical
// faults set nothing.
func SetChallenge(h http.Header, err error, realm, scope string) {
	e := AsError(err)
	if e.Status >= http.StatusInternalServerError {
		return
	}
	value := fmt.Sprintf("Bearer realm=%q", Printable(realm))
	if !errors.Is(err, ErrNoToken) {
		value += fmt.Sprintf(", error=%q, error_description=%q", e.Code, Printable(e.Description))
	}
	if e.Code == oauth.InsufficientScope {
		value += fmt.Sprintf(", scope=%q", scope)
	}
	h.Set("WWW-Authenticate", value)
}
