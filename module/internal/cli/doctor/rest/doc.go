// Package rest finds mistakes in what an api_rest declares: changes that need no token or no scope, members that clients may
// send, versions that are over, and networks that a job reaches. It asks about requests as explain follows them.
package rest
