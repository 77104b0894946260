// Package exchange sends a request to the API, and leads the answer through the dialect of the
// API's errors and the translation to a writer. It turns every failure on the way into an error,
// counts and logs it. It knows nothing of Caddy, nor of who asked.
package exchange
