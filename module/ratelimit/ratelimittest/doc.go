// Package ratelimittest owns the tests that every [ratelimit.Source] has to pass. It
// refuses to know where a source keeps its counts.
package ratelimittest
