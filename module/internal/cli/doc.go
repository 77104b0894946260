// Package cli owns the commands of `caddy gatehouse`: what they are called, what they
// print and how they end. It asks a running gateway over the admin API, or reads a
// configuration; it refuses to know the store.
package cli
