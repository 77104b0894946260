// Package cli has the commands of `caddy gatehouse`: their names, output and exit codes. They talk to a
// running gateway over the admin API, or read a configuration, and never access the store.
package cli
