// Package pushed keeps pushed authorization requests (RFC 9126): the endpoint that takes them, and
// their use at the authorization endpoint, once. It does not know what a request must contain.
package pushed
