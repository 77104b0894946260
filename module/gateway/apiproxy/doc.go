// Package apiproxy is the handler api_proxy: a reverse proxy for servers that speak HTTP/1.1, with
// the few settings that most of them need, at a fraction of the cost of Caddy's reverse_proxy.
package apiproxy
