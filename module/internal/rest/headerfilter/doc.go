// Package headerfilter removes from the answer to an operation the header fields and trailers that
// do not reach clients. Which fields pass is decided by package headers and by the operation; the
// package knows nothing of Caddy, nor of bodies.
package headerfilter
