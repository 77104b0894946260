// Package userstore is the user directory in the gateway's own store: its users, their unique
// names, and their passwords. It knows nothing of sessions, grants and tokens: whoever locks
// or deletes a user, or sets a password, ends those as well (authserver's EndSubject).
package userstore
