// Package bolt owns the store on one machine: a bbolt file with group commit, and
// the secret kept in a file of its own beside it. As the Caddy module
// gatehouse.stores.bolt it is a guest of the gatehouse app. It refuses to know what
// the records mean, and holds nothing of the configuration that opened it.
package bolt
