// Package jose parses signed JWTs (RFC 7515, RFC 7519) and public keys (RFC 7517), for the gateway's own tokens and
// for client assertions. It verifies no signatures and makes no decisions about tokens.
//
// The gateway uses golang-jwt for its signing methods only. That library's parser accepts any header members and
// several spellings of one token, decodes claims before it checks the signature, and leaves the type, the exact set
// of members, and the bounds of sizes and times to its caller. The parsers here accept exactly what the gateway
// writes and, for client assertions, the few members that clients use. JWKs are parsed here because golang-jwt has no
// parser for them.
package jose
