// Package login signs people in: the login page, where it leads afterwards, and the choice of a
// language, which must not lose a sign-in in progress. It knows authorization requests only as
// something that goes on once somebody is signed in.
package login
