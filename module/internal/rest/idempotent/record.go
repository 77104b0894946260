package idempotent

import (
	"net/http"
	"time"

	"github.com/gatehouse/gatehouse/module/rest/envelope"
)

// State is how far a request with a key has come.
type State string

// The states. A record begins as Begun and is changed once, by the attempt that made it,
// or deleted by it when nothing was done.
const (
	// Begun: it is on its way until the lease ends. After that somebody broke off, and
	// what the upstream did nobody knows.
	Begun State = "begun"
	// Kept: it was answered, and the answer can be given again.
	Kept State = "kept"
	// Known: it was answered, and the answer is not kept.
	Known State = "known"
	// Lost: it was sent, and what the upstream did is not known.
	Lost State = "lost"
)

// Record is what is kept of a key.
type Record struct {
	// Digest is that of the first request.
	Digest string
	State  State
	// Attempt names who carries the request out.
	Attempt string
	// Lease is until when a request that has Begun is taken for running.
	Lease time.Time
	// Status is that of the answer when it is Kept or Known.
	Status int
	// Answer is sealed, when it is Kept.
	Answer []byte
}

// field is what refusals are about.
const field = Header

// judge says what a repeated request gets; nil means the answer that was kept.
func (r Record) judge(digest string, now time.Time) *envelope.Refusal {
	switch {
	case r.Digest != digest:
		return &envelope.Refusal{
			Status: http.StatusUnprocessableEntity, Code: "idempotency_key_reused", Field: field,
			Message: "Idempotency-Key was used for another request: a key belongs to one request and its repetitions",
		}
	case r.State == Kept:
		return nil
	case r.State == Known:
		return &envelope.Refusal{
			Status: http.StatusConflict, Code: "idempotency_answer_not_kept", Field: field,
			Message: "the request was carried out, but its answer was too large to be kept",
		}
	case r.State == Begun && now.Before(r.Lease):
		return &envelope.Refusal{
			Status: http.StatusConflict, Code: "idempotency_in_progress", Field: field, Header: http.Header{"Retry-After": {"1"}},
			Message: "the first request with this key is still being carried out",
		}
	}
	return &envelope.Refusal{
		Status: http.StatusConflict, Code: "idempotency_outcome_unknown", Field: field,
		Message: "the first request with this key was broken off: look whether it was carried out before using another key",
	}
}
