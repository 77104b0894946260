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

	realm, refused, metadata string
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
	c := challenges{
		realm: `Bearer realm="` + realm + `"`, metadata: metadata,
		refused: `, error="invalid_token", error_description="` + invalidToken + `"`,
	}
	c.missing = c.realm + metadata
	c.invalid = c.realm + c.refused + metadata
	c.request = c.realm + `, error="invalid_request"` + metadata
	return c, nil
}

// scope is the challenge for a token that lacks scopes.
func (c challenges) scope(scopes []string) string {
	return c.realm + `, error="insufficient_scope"` + scopeParameter(scopes) + c.metadata
}

// of returns the challenges of a rule, which name the scopes that a token needs there (RFC 6750
// section 3), so that a client need not ask for all it may have.
func (c challenges) of(scopes []string) (missing, invalid string) {
	return c.realm + scopeParameter(scopes) + c.metadata, c.realm + c.refused + scopeParameter(scopes) + c.metadata
}

func scopeParameter(scopes []string) string {
	return `, scope="` + strings.Join(scopes, " ") + `"`
}
