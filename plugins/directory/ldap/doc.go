// Package ldap is the user directory gatehouse.directories.ldap: users of an LDAP server, found by a
// search and verified by a bind as themselves. It manages the connections, writes nothing there, and
// keeps a password no longer than one bind.
package ldap
