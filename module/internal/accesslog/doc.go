// Package accesslog writes the access log line of requests that Caddy must not log itself:
// Caddy logs the address as it came, with codes and states in it, and header fields before a
// handler can change them. The lines go where Caddy's would and have the same form, without
// what is secret. The package knows Caddy's logging, and nothing of what requests are for.
package accesslog
