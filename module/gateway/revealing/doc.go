// Package revealing is a transport of Caddy's reverse_proxy that adds to a request what
// module/internal/rest/conceal keeps from the proxy above it and from its log.
package revealing
