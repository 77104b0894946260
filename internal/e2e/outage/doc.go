// Package outage holds the tests of a node whose store or limiter is away, or is another
// after a reload: what it says of itself, what it answers, what it holds on to. It has no
// code of its own.
package outage
