// Package userstore owns the user directory in the gateway's own store: who is in it,
// their names, each of which is one user's, and their passwords. It refuses to know
// sessions, grants and tokens: whoever locks or deletes a user, or sets a password, ends
// those (authserver's EndSubject).
package userstore
