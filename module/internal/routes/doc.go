// Package routes reads the routes of Caddy's HTTP servers and follows them in their order:
// which handlers can be reached, where oauth_server is, and which limits come before the
// guard. It decides no request, and knows no configuration of handlers beyond their names
// and policies.
package routes
