// Package httpx holds small pieces of HTTP that several packages share. It makes no decisions and
// keeps no state.
package httpx
