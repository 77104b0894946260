// Package load sends requests over kept connections, HTTP/1.1 or HTTP/2, and measures how long
// each takes. It knows nothing of what it measures.
package load
