// Package token owns signed tokens: what is in access tokens and id_tokens, the key
// ring that signs them, its storage and rotation, their verification, the cache of
// verified ones, the feed of revocations, and the assertions with which clients sign in.
// It refuses to know why a token is issued and what a request that carries one may do.
package token
