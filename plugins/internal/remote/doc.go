// Package remote owns what plugins that talk to a server must agree on: whom to trust
// there, where a password may travel in the clear, and how long to wait. It refuses to know protocols.
package remote
