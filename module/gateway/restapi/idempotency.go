package restapi

import (
	"errors"
	"fmt"
	"net/http"
	"time"

	"github.com/caddyserver/caddy/v2"
	"github.com/caddyserver/caddy/v2/modules/caddyhttp/reverseproxy"

	"github.com/gatehouse/gatehouse/module/gateway"
	"github.com/gatehouse/gatehouse/module/internal/handler"
	"github.com/gatehouse/gatehouse/module/internal/http1"
	"github.com/gatehouse/gatehouse/module/internal/rest/idempotent"
	"github.com/gatehouse/gatehouse/module/internal/rest/signin"
	"github.com/gatehouse/gatehouse/module/internal/secret"
	"github.com/gatehouse/gatehouse/module/rest/job"
	"github.com/gatehouse/gatehouse/module/rest/resource"
)

// provisionIdempotency builds the handler of Idempotency-Key when a resource declares it.
func (h *REST) provisionIdempotency(ctx caddy.Context) error {
	if !anyResource(h.tables(), func(r *resource.Resource) bool { return r.Idempotency }) {
		return nil
	}
	app, err := gateway.FindApp(ctx, "api_rest")
	if err != nil {
		return fmt.Errorf("answers for an Idempotency-Key are kept in its store: %w", err)
	}
	keeper, err := idempotent.New(idempotent.Config{Store: app.Store(), Attempt: secret.ID, Now: time.Now})
	if err != nil {
		return err
	}
	server := app.Servers().AddAPI(ctx)
	h.once = &idempotent.Handler{
		Keeper: keeper, Hold: app.Hold, Undone: undone, MaxBody: h.MaxBody, Log: h.log,
		Site:    func(r *http.Request) string { return siteOf(r, server) },
		Network: handler.ClientNetwork,
	}
	return nil
}

// undone reports whether an error says that nothing was sent: the gateway refused the request
// itself, or there was no route or no connection to the API.
func undone(err error) bool {
	var dial reverseproxy.DialError
	var unreached *http1.DialError
	status := statusOf(err)
	switch {
	case signin.IsNotSent(err):
		return true
	case errors.Is(err, job.ErrUnknown), status == idempotent.GivenUp:
		return false
	}
	return status < 500 || status == http.StatusServiceUnavailable || errors.As(err, &dial) || errors.As(err, &unreached) || errors.Is(err, errNoRoute) || errors.Is(err, errNoAnswer)
}
