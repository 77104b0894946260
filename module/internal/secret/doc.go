// Package secret owns randomness, constant-time comparison, digests, MACs and
// sealed (authenticated and encrypted) values. Everything that must be
// unguessable or unforgeable is made here and nowhere else. It knows nothing of
// what it protects: callers name a purpose, and values of one purpose are
// worthless for every other.
package secret
