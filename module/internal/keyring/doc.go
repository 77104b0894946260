// Package keyring keeps the keys that sign tokens: one record in the store for all nodes, its rotation, the public
// keys, and revoked keys. It knows nothing of what is signed.
package keyring
