// Package token makes and verifies signed tokens: what is in access tokens and id_tokens, the key
// ring that signs them, its storage and rotation, the cache of verified tokens, the feed of
// revocations, and the assertions with which clients authenticate. It does not know why a token
// is issued, nor what a request with a token may do.
//
// Of golang-jwt it uses the signing methods alone. That library's parser accepts any header
// members and several spellings of one token, decodes claims before it checks the signature, and
// leaves the type, the exact set of members, and the bounds of sizes and times to its caller. Ours
// accepts what this gateway writes and nothing else, and for client assertions, which others
// write, the few members that clients use. JWKs are parsed here because golang-jwt has no parser
// for them.
package token
