// Package store is the contract of the gateway's durable state: a small key-value [Backend] with versions and expiry,
// the records kept in it, and the transitions that each record may make. Everything that has a state is one record
// under one key and changes by one compare-and-swap. That makes single use and rotation correct on a local file and
// on any number of nodes alike. The package knows no database: those are plugins, which the conformance suite in
// package storetest holds to the contract.
package store
