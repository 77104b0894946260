// Package jose parses signed JWTs (RFC 7515, 7519) and public keys (RFC 7517): the parts that the gateway's own
// tokens and client assertions share. It verifies no signature and decides nothing about a token.
//
// Of golang-jwt the gateway uses the signing methods alone. That library's parser accepts any header members and
// several spellings of one token, decodes claims before it checks the signature, and leaves the type, the exact set
// of members, and the bounds of sizes and times to its caller. Our parsers accept what this gateway writes and
// nothing else, and for client assertions, which others write, the few members that clients use. JWKs are parsed here
// because golang-jwt has no parser for them.
package jose
