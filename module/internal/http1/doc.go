// Package http1 is the client side of HTTP/1.1 (RFC 9112) for a proxy. A request needs one
// goroutine, and a second one only while a body is sent; header fields are written from the
// server's request and read into the server's response without an http.Request or http.Response
// in between.
//
// It is strict: an answer that two readers could understand differently is an error, and its
// connection is closed. It knows neither Caddy nor the fields that a proxy adds.
package http1
