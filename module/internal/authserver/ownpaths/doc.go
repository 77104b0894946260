// Package ownpaths tells the request paths of an authorization server from those that it leaves to
// the next handler, in every spelling. It knows no handlers.
package ownpaths
