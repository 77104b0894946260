// Package oauthguard is the handler oauth_guard: for each request it calls module/guard,
// which decides, and turns the decision into Caddy's terms. It contains no rules of its own.
package oauthguard
