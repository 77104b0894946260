package httpx

import (
	"context"
	"errors"
)

// StatusClientGone is for the access log alone, as in Caddy's reverse_proxy: nobody receives it.
const StatusClientGone = 499

// ClientGone is the outcome of such a request, for metrics.
const ClientGone = "client_gone"

// IsGone reports whether something failed because the client of the request with this context has gone.
func IsGone(ctx context.Context, cause error) bool {
	return errors.Is(cause, context.Canceled) && errors.Is(ctx.Err(), context.Canceled)
}
