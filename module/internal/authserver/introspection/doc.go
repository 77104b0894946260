// Package introspection is the endpoint at which resource servers ask about tokens (RFC 7662),
// with JSON answers or with statuses for gateways. It knows neither how clients authenticate
// nor how tokens are made.
package introspection
