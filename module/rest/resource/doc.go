// Package resource owns the declared resources: which operation a request is, what the
// upstream is sent for it, and what is to become of the answer. It is given requests
// and gives back descriptions; it sends nothing and touches no answer.
package resource
