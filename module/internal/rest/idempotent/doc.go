// Package idempotent owns Idempotency-Key: whether a request was carried out before, is
// on its way or may have been, what its first answer was, and how many keys a client may
// use. It stores nothing and answers nothing itself: where records are it is told.
package idempotent
