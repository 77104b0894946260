// Package cursor seals the cursors of lists, so that clients can neither read nor change what an API
// has written into them, and binds them to a caller. It knows nothing of lists.
package cursor
