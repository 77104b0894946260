// Package ldap is the user directory gatehouse.directories.ldap: users of an LDAP
// server, found by a search and checked by a bind as themselves. It owns the
// connections to that server; it writes nothing there and refuses to know passwords
// for longer than one bind.
package ldap
