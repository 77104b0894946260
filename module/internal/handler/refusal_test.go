package handler

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/gatehouse/gatehouse/module/internal/httpx"
)

func TestClientDisconnectIsNotAGatewayError(t *testing.T) {
	failed := errors.New("the store is away")
	for _, c := range []struct {
		name  string
		gone  bool
		cause error
		want  int
	}{
		{"a failure", false, failed, http.StatusServiceUnavailable},
		{"a failure while the client goes", true, failed, http.StatusServiceUnavailable},
		{"the gateway gave up", false, context.Canceled, http.StatusServiceUnavailable},
		{"the client gave up", true, fmt.Errorf("limiter: %w", context.Canceled), httpx.StatusClientGone},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := newRequest(nil)
			if c.gone {
				ctx, cancel := context.WithCancel(r.Context())
				cancel()
				r = r.WithContext(ctx)
			}
			if got := StatusOf(UnavailableTo(httptest.NewRecorder(), r, c.cause)); got != c.want {
				t.Errorf("%d, expected %d", got, c.want)
			}
			if got := StatusOf(Error(r, http.StatusServiceUnavailable, &Failure{Cause: c.cause})); got != c.want {
				t.Errorf("%d, expected %d", got, c.want)
			}
		})
	}
}
