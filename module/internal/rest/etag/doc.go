// Package etag owns the validators of translated answers: how one is derived from the
// upstream's or from the body, what it says of the upstream's, and whether a condition on
// it holds (RFC 9110 sections 8.8.3 and 13). It reads and writes header values only.
package etag
