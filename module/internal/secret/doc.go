// Package secret provides randomness, constant-time comparison, digests, MACs and sealed
// (authenticated and encrypted) values. Everything that must be unguessable or unforgeable is
// made here and nowhere else. Callers name a purpose; values made for one purpose are invalid
// for every other.
package secret
