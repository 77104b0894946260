// Package oauthguard is the handler oauth_guard: it has the guard (module/guard) decide on each
// request and turns the decision into Caddy's terms. The rules of the decision are not its own.
package oauthguard
