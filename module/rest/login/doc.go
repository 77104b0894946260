// Package login owns the gateway's own sign-in at an upstream: the steps of it, what they keep,
// and the session that all requests share. How a step reaches the upstream, and where secrets
// come from, it does not know.
package login
