// Package keyring keeps the signing keys: one record in the store, shared by all nodes, with rotation, revocation
// and the published public keys. It does not know what is signed.
package keyring
