package guard

import "fmt"

// challenges are the values of WWW-Authenticate (RFC 6750 section 3). Each names the metadata
// of the resource, if there is any (RFC 9728 section 5.1).
type challenges struct {
	realm, metadata string

	missing string // no credentials: without an error code
	invalid string
	request string
}

const invalidTokenParams = `, error="invalid_token", error_description="` + invalidToken + `"`

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
	c.missing = c.withParams("")
	c.invalid = c.withParams(invalidTokenParams)
	c.request = c.withParams(`, error="invalid_request"`)
	return c, nil
}

// withParams returns a challenge with these parameters, which begin with a comma.
func (c challenges) withParams(params string) string { return c.realm + params + c.metadata }
