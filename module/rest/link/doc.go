// Package link adds hypermedia links to resources: which relations exist and where they lead. It shows
// only links that the client may follow; the calling package says which those are.
package link
