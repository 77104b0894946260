// Package link adds hypermedia links to resources: which relations exist, where they lead, and that
// only those are shown that the caller may follow. It asks its caller what is permitted.
package link
