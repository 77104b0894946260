// Package sourcetest owns the properties that every ratelimit.Source has to show, as tests
// to be run against one. It knows the contract and nothing of any implementation.
package sourcetest
