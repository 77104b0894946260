// Package admission decides whether a request is worked on at all, or refused at once because the
// process has more work than it can do in time. It knows no HTTP and holds nothing for a
// request: there is no slot that could leak.
package admission
