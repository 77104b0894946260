// Package store owns the contract of the gateway's durable state: a small
// key-value [Backend] with versions and expiry, and the records kept in it with
// the transitions they may make. Everything that has a state lives in one record
// under one key and moves by one compare-and-swap, which makes single use and
// rotation correct on a local file and on any number of nodes alike. It knows no
// database: those are plugins, held to the contract by the package storetest.
package store
