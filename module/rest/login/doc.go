// Package login signs the gateway in to an upstream: the steps, what they keep, and the session that
// all requests share. It knows neither how a step reaches the upstream nor where secrets come from.
package login
