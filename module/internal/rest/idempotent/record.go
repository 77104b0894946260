package idempotent

import (
	"net/http"
	"time"

	"github.com/gatehouse/gatehouse/module/rest/envelope"
	"github.com/gatehouse/gatehouse/module/store"
)

// The states of a request with a key. A record is created as begun and is changed once, by the
// attempt that made it, or expires at once when nothing was done.
const (
	// begun: it is on its way until the lease ends. After that somebody broke off, and
	// what the upstream did nobody knows.
	begun = "begun"
	kept  = "kept"  // it was answered, and the answer can be given again
	known = "known" // it was answered, and the answer is not kept
	lost  = "lost"  // it was sent, and what the upstream did is not known
)

// judge says what a repeated request gets; nil means the answer that was kept.
func judge(r store.Idempotency, digest string, now time.Time) *envelope.Refusal {
	switch {
	case r.Digest != digest:
		return &envelope.Refusal{
			Status: http.StatusUnprocessableEntity, Code: "idempotency_key_reused", Field: Header,
			Message: "Idempotency-Key was used for another request: a key belongs to one request and its repetitions",
		}
	case r.State == kept:
		return nil
	case r.State == known:
		return &envelope.Refusal{
			Status: http.StatusConflict, Code: "idempotency_answer_not_kept", Field: Header,
			Message: "the request was carried out, but its answer was not kept: it was too large, or too much is kept already",
		}
	case r.State == begun && now.Before(r.Lease):
		return &envelope.Refusal{
			Status: http.StatusConflict, Code: "idempotency_in_progress", Field: Header, Header: http.Header{"Retry-After": {"1"}},
			Message: "the first request with this key is still being carried out",
		}
	}
	return &envelope.Refusal{
		Status: http.StatusConflict, Code: "idempotency_outcome_unknown", Field: Header,
		Message: "the first request with this key was broken off: look whether it was carried out before using another key",
	}
}
