// Package http is the user directory gatehouse.directories.http: a login endpoint that
// exists already says who somebody is. It owns how that endpoint is asked and read, and
// refuses to know how it keeps users.
package http
