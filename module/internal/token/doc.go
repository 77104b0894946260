// Package token makes and verifies the gateway's tokens: what is in access tokens and id_tokens, their signatures,
// the cache of verified tokens, and the reasons for refusing one. It does not know why a token is issued, nor what a
// request with a token may do. Keys are package keyring's, revocations package revocationlist's.
package token
