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
	"github.com/gatehouse/gatehouse/module/internal/rest/idempotent"
	"github.com/gatehouse/gatehouse/module/internal/rest/reststore"
	"github.com/gatehouse/gatehouse/module/internal/rest/routes"
	"github.com/gatehouse/gatehouse/module/internal/rest/signin"
	"github.com/gatehouse/gatehouse/module/internal/secret"
	"github.com/gatehouse/gatehouse/module/rest/job"
	"github.com/gatehouse/gatehouse/module/rest/resource"
)

// provisionIdempotency builds the handler of Idempotency-Key when a resource declares it.
func (h *REST) provisionIdempotency(ctx caddy.Context) error {
	if !h.declares(func(r *resource.Resource) bool { return r.Idempotency }) {
		return nil
	}
	app, err := gateway.FindApp(ctx, "api_rest")
	if err != nil {
		return fmt.Errorf("api_rest: answers for an Idempotency-Key are kept in its store: %w", err)
	}
	stored := reststore.Idempotency{Backend: app.Store()}
	keeper, err := idempotent.New(idempotent.Config{Ledger: stored, Tallies: stored, Attempt: secret.ID, Now: time.Now})
	if err != nil {
		return fmt.Errorf("api_rest: %w", err)
	}
	server := app.Servers().AddAPI(ctx)
	h.once = &idempotent.Handler{
		Keeper: keeper, Hold: app.Hold, Undone: undone, MaxBody: h.MaxBody, Log: h.log,
		Site:    func(r *http.Request) string { return site(r, server) },
		Network: handler.ClientNetwork,
	}
	return nil
}

// tables returns the tables of all versions.
func (h *REST) tables() []*routes.Table {
	tables := []*routes.Table{h.plain.table}
	for _, e := range h.editions {
		tables = append(tables, e.table)
	}
	return tables
}

// declares reports whether it is true of any declared resource.
func (h *REST) declares(it func(*resource.Resource) bool) bool {
	for _, t := range h.tables() {
		for _, o := range t.Operations() {
			if it(o.Resource) {
				return true
			}
		}
	}
	return false
}

// undone reports whether an error says that nothing was sent: the gateway refused the request
// itself, there was no route to the API, or no connection.
func undone(err error) bool {
	var dial reverseproxy.DialError
	status := statusOf(err)
	if signin.IsNotSent(err) {
		return true
	}
	if errors.Is(err, job.ErrUnknown) || status == idempotent.GivenUp {
		return false
	}
	return status < 500 || status == http.StatusServiceUnavailable || errors.As(err, &dial) || errors.Is(err, errNowhere) || errors.Is(err, errNoAnswer)
}
