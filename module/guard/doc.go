// Package guard decides about one request to a protected resource: which rule applies, whether the
// bearer token (RFC 6750) satisfies it, what the refusal says, and what of the request may be sent
// upstream. It knows neither Caddy nor how tokens are verified, and writes no responses.
package guard
