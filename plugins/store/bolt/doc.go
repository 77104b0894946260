// Package bolt is the store for one machine: a bbolt file with group commit, and the secret in a file
// next to it. As the Caddy module gatehouse.stores.bolt it is loaded by the gatehouse app. It does not
// know what the records mean, and keeps nothing of the configuration that opened it.
package bolt
