// Package revocationlist keeps what is revoked (grants, tokens, users, clients, keys) in memory, so that guards need
// not ask the store, and follows the feed of revocations of all nodes. It knows nothing of signatures.
package revocationlist
