// Package remote owns what plugins that talk to a server must agree on: whom to trust
// there, and where a password may travel in the clear. It refuses to know protocols.
package remote
