// Package accesslog writes the access log line of requests that Caddy must not log itself:
// Caddy logs the original URL, with codes and states in it, and header fields before a handler
// can change them. The lines go where Caddy's would go and have the same form, without
// secrets. The package knows Caddy's logging, and nothing of what requests are for.
package accesslog
