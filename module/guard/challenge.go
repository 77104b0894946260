package guard

import (
	"fmt"
	"strings"
)

// challenges are the values of WWW-Authenticate (RFC 6750 section 3), made once.
type challenges struct {
	missing string // no credentials: without an error code
	invalid string
	request string
}

func newChallenges(realm string) (challenges, error) {
	for i := range len(realm) {
		if c := realm[i]; c < 0x20 || c >= 0x7f || c == '"' || c == '\\' {
			return challenges{}, fmt.Errorf(`guard: realm %q must be ASCII without " and \`, realm)
		}
	}
	base := `Bearer realm="` + realm + `"`
	return challenges{
		missing: base,
		invalid: base + `, error="invalid_token", error_description="` + invalidToken + `"`,
		request: base + `, error="invalid_request"`,
	}, nil
}

func scopeChallenge(realm string, scopes []string) string {
	return `Bearer realm="` + realm + `", error="insufficient_scope", scope="` + strings.Join(scopes, " ") + `"`
}
