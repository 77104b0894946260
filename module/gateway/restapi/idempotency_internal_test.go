package restapi

import (
	"errors"
	"fmt"
	"net/http"
	"testing"

	"github.com/caddyserver/caddy/v2/modules/caddyhttp/reverseproxy"

	"github.com/gatehouse/gatehouse/module/internal/http1"
	"github.com/gatehouse/gatehouse/module/rest/envelope"
	"github.com/gatehouse/gatehouse/module/rest/job"
)

// Else a repetition with the same Idempotency-Key would make another job.
func TestPossiblyStoredJobKeepsItsIdempotencyKey(t *testing.T) {
	away := errors.New("away")
	for err, want := range map[error]bool{away: true, fmt.Errorf("%w: %w", job.ErrUnknown, away): false} {
		if got := undone(envelope.Unavailable(err)); got != want {
			t.Errorf("%v: %v", err, got)
		}
	}
}

// Caddy's proxy says 499 of a request that was given up, and may have been sent by then.
func TestAbandonedRequestKeepsItsIdempotencyKey(t *testing.T) {
	for status, want := range map[int]bool{499: false, 404: true, 503: true, 502: false} {
		if got := undone(envelope.Fail(status, "", "", errors.New("gone"))); got != want {
			t.Errorf("%d: %v", status, got)
		}
	}
}

func TestUnsentRequestFreesItsIdempotencyKey(t *testing.T) {
	for _, err := range []error{reverseproxy.DialError{}, &http1.DialError{Err: errors.New("refused")}} {
		if !undone(envelope.Fail(http.StatusBadGateway, "", "", err)) {
			t.Errorf("%T counts as sent", err)
		}
	}
}
