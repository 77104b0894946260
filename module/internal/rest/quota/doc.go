// Package quota bounds what a client, its users, and callers without a token may have in the store. It counts by the hour,
// the same on all nodes.
package quota
