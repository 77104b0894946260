package guard

import (
	"net/http"
	"strings"

	"golang.org/x/net/http/httpguts"
)

// maxToken bounds the length of a token that is passed to the verifier. A token of the gateway
// with a hundred scopes has about 6 KiB.
const maxToken = 16 << 10

type credentials int

const (
	noCredentials credentials = iota
	bearerCredentials
	malformedCredentials
)

// bearerToken reads the Authorization header (RFC 6750 section 2.1). Another scheme or an empty
// value is not a bearer credential. More than one value is malformed, because it is unknown
// which of them the upstream would use.
func bearerToken(h http.Header) (string, credentials) {
	values := h["Authorization"]
	if len(values) > 1 {
		return "", malformedCredentials
	}
	if len(values) == 0 || values[0] == "" {
		return "", noCredentials
	}
	scheme, rest, _ := strings.Cut(values[0], " ")
	if strings.EqualFold(scheme, "Bearer") {
		if raw := strings.Trim(rest, " "); isToken68(raw) {
			return raw, bearerCredentials
		}
		return "", malformedCredentials
	}
	if !httpguts.ValidHeaderFieldName(scheme) {
		return "", malformedCredentials
	}
	return "", noCredentials
}

// isToken68 checks for b64token, RFC 6750 section 2.1.
func isToken68(s string) bool {
	s = strings.TrimRight(s, "=")
	for i := range len(s) {
		if !token68[s[i]] {
			return false
		}
	}
	return s != ""
}

// token68 is a table because a token has hundreds of bytes.
var token68 = func() (t [256]bool) {
	for c := range t {
		t[c] = isUnreserved(byte(c)) || c == '+' || c == '/'
	}
	return t
}()
