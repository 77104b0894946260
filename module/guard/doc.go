// Package guard decides about one request to a protected resource: which rule applies, whether the
// bearer token (RFC 6750) satisfies it, what the refusal says, how CORS and its preflight requests are
// answered, and what of the request may be sent upstream. It knows neither Caddy nor how tokens are
// verified (package token does that, and keeps those it has verified), and writes no responses.
package guard
