package guard

import (
	"net/http"
	"strings"
)

// maxToken bounds what is handed to the verifier. A token of ours with a hundred
// scopes has about 6 KiB.
const maxToken = 16 << 10

type credentials int

const (
	none credentials = iota
	bearer
	malformed
)

// bearerToken reads the Authorization header (RFC 6750 section 2.1). Another scheme,
// or an empty value, is no bearer credential; more than one value is malformed,
// because which of them the upstream takes is unknown.
func bearerToken(h http.Header) (string, credentials) {
	values := h["Authorization"]
	if len(values) > 1 {
		return "", malformed
	}
	if len(values) == 0 || values[0] == "" {
		return "", none
	}
	scheme, rest, _ := strings.Cut(values[0], " ")
	if !isSchemeName(scheme) {
		return "", malformed
	}
	if !strings.EqualFold(scheme, "Bearer") {
		return "", none
	}
	raw := strings.Trim(rest, " ")
	if !isToken68(raw) {
		return "", malformed
	}
	return raw, bearer
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

// isSchemeName checks for a token of RFC 9110 section 5.6.2.
func isSchemeName(s string) bool {
	for i := range len(s) {
		if c := s[i]; c <= 0x20 || c >= 0x7f || strings.IndexByte(`"(),/:;<=>?@[\]{}`, c) >= 0 {
			return false
		}
	}
	return s != ""
}
