// Package clientstore manages the clients that are kept in the store instead of the configuration: their records, the
// rotation of their secrets, and the limit on clients that register themselves. It does not decide who may ask for a
// change, or what a client may do with its tokens.
package clientstore
