// Package idempotent implements Idempotency-Key: whether a request was executed before, is in progress
// or may have been executed, its first response, and how many keys a client may use.
package idempotent
