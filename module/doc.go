// Package module registers all of the gateway's Caddy modules. Import it with a blank identifier to
// build Caddy with the authorization server, the guard, the limiter, the error envelope, their
// Caddyfile directives and every plugin.
package module
