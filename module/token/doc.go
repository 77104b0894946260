// Package token owns access tokens: what is in them, the key ring that signs them
// and its storage, their verification, the cache of verified ones and the feed of
// revocations. It refuses to know why a token is issued and what a request that
// carries one may do.
package token
