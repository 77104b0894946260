package guard

import (
	"fmt"
	"strings"
)

// challenges are the values of WWW-Authenticate (RFC 6750 section 3), made once. Each
// names the metadata of the resource, if there is any (RFC 9728 section 5.1).
type challenges struct {
	missing string // no credentials: without an error code
	invalid string
	request string

	realm, metadata string
}

func newChallenges(realm, metadata string) (challenges, error) {
	for i := range len(realm) {
		if c := realm[i]; c < 0x20 || c >= 0x7f || c == '"' || c == '\\' {
			return challenges{}, fmt.Errorf(`guard: realm %q must be ASCII without " and \`, realm)
		}
	}
	if metadata != "" {
		metadata = `, resource_metadata="` + metadata + `"`
	}
	c := challenges{realm: `Bearer realm="` + realm + `"`, metadata: metadata}
	c.missing = c.realm + metadata
	c.invalid = c.realm + `, error="invalid_token", error_description="` + invalidToken + `"` + metadata
	c.request = c.realm + `, error="invalid_request"` + metadata
	return c, nil
}

// scope is the challenge for a token that lacks scopes.
func (c challenges) scope(scopes []string) string {
	return c.realm + `, error="insufficient_scope", scope="` + strings.Join(scopes, " ") + `"` + c.metadata
}
