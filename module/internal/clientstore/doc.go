// Package clientstore owns the clients that are kept in the store instead of the
// configuration: their records, the rotation of their secrets and the places of those
// that registered themselves. It refuses to know who may ask for a change, and what a
// client may do with its tokens.
package clientstore
