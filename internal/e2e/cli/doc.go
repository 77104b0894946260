// Package cli holds the cases of whoever runs the gateway: the admin API and the
// commands, driven as people drive them, with the built program. It has no code of its own.
package cli
