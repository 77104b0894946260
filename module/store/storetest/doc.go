// Package storetest owns what tests need of a store: Run, the conformance suite
// every store.Backend is held to, and Memory, a double that passes it and can be
// told to fail. It knows no database.
package storetest
