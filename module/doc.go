// Package module is the gateway as Caddy modules, for its blank import: with it a build
// of Caddy has the authorization server, the guard, the limiter, the error envelope,
// the Caddyfile's words for them and every plugin.
package module
