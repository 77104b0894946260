// Package remote has the rules that all plugins with a remote server share: whom to trust, where a
// password may travel unencrypted, and how long to wait. It knows no protocols.
package remote
