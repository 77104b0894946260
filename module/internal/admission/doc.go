// Package admission decides whether a request is worked on at all, or refused because the
// process has more work than it can do in time. A request may wait a few milliseconds for
// the answer. The package knows no HTTP, and an admitted request holds nothing: there is no
// slot that could leak.
package admission
