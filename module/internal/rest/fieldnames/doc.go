// Package fieldnames translates the names and values of a resource's members between clients and the
// upstream: in bodies that clients send, and, as edits, in answers. It refuses names that an upstream
// could take for another member. It knows nothing of HTTP methods, paths or encodings.
package fieldnames
