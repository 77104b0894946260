// Package guard owns the decision about one request to a protected resource:
// which rule of the policy decides, whether the bearer token (RFC 6750) satisfies
// it, what the refusal says, and what of the request may go upstream. It knows
// neither Caddy nor how a token is verified, and it writes no response.
package guard
