// Package link owns the hypermedia links of a resource: what relations there are, where
// they lead, and that only those are shown which the caller may follow. Who may is
// asked, never decided here.
package link
