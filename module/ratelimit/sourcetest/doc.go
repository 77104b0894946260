// Package sourcetest is the conformance suite of ratelimit.Source: tests of every property
// that a source must have. It knows the contract and no implementation.
package sourcetest
