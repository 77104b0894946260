// Package oauth owns the protocol's words: grant types, scopes, error codes, PKCE,
// redirect addresses and the client as the protocol sees it. It is pure and uses
// the standard library only; it knows no storage, no HTTP handler and no token
// format.
package oauth
