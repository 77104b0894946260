// Package supply adds the gateway's own parameters to requests for an upstream: constants, secrets, and
// values from a sign-in. It also knows which names clients must not use. It does not know where the
// values come from.
package supply
