// Package login signs users in: the login page, where it leads afterwards, and the choice of a language, which must
// not lose a sign-in in progress. To it, authorization requests are something that continues after the sign-in.
package login
