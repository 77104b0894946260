// Package admission sheds load: it decides whether a request is worked on at all, or refused because the process has
// more work than it can do in time. A request may wait a few milliseconds for the decision. The package knows no
// HTTP, and an admitted request holds no slot that could leak.
package admission
