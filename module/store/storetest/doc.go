// Package storetest holds what tests need of a store: Run, the conformance suite of store.Backend, and Memory, an
// implementation that passes it and fails on demand. It knows no database.
package storetest
