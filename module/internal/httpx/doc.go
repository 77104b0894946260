// Package httpx owns small pieces of HTTP that several packages share. It takes
// no decision and keeps no state.
package httpx
