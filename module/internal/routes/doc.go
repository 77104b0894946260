// Package routes reads the routes of Caddy's HTTP servers and follows them in their order:
// which handlers can be reached, where oauth_server is, and which limits come before the
// guard. It does not decide on requests, and knows nothing about the configuration of handlers
// except their names and policies.
package routes
