// Package request reads the body of a client's request and makes the copies of the request
// that are sent to the API: it bounds the body, refuses forms that carry an access token, ends
// the hop-by-hop header fields, and keeps a body so that it can be sent again. It knows nothing
// of Caddy, nor of where a request goes.
package request
