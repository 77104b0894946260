// Package supply owns the parameters that the gateway itself adds to requests for an upstream:
// constants, secrets, and what a sign-in gave. It writes them into a request, and tells which
// names a client must not use. Where their values come from it does not know.
package supply
