package gateway

import (
	"context"
	"log/slog"
	"net/http"
	"slices"
	"time"

	"github.com/caddyserver/caddy/v2"

	"github.com/gatehouse/gatehouse/module/guard"
	"github.com/gatehouse/gatehouse/module/internal/audit"
	"github.com/gatehouse/gatehouse/module/internal/core"
	"github.com/gatehouse/gatehouse/module/internal/eventqueue"
	"github.com/gatehouse/gatehouse/module/internal/handler"
	"github.com/gatehouse/gatehouse/module/internal/secret"
	"github.com/gatehouse/gatehouse/module/internal/servers"
	"github.com/gatehouse/gatehouse/module/internal/token"
	"github.com/gatehouse/gatehouse/module/internal/watch"
	"github.com/gatehouse/gatehouse/module/ratelimit"
	"github.com/gatehouse/gatehouse/module/store"
)

// This file has what the handlers of other packages need of the app.

// Store is where state is kept. It opens at first use.
func (a *App) Store() store.Backend { return a.core.Store }

// Keys are the gateway's keys, the same on all nodes. Their secret may have to be read from the
// store, whose faults are the only errors. The caller MUST Hold the app meanwhile.
func (a *App) Keys(ctx context.Context) (*secret.Keys, error) { return a.core.Keys(ctx) }

// Hold keeps the resources of the configuration open until release is called: for a request, or
// for work that outlives the configuration.
func (a *App) Hold() (release func(), err error) { return a.lease.Enter() }

// Identify makes a request without a client one of this caller's, for placeholders and logs.
func (a *App) Identify(r *http.Request, access *token.Access) { handler.Identify(r, access, a.names) }

// GuardConfig is what all guards of this configuration share: everything but their rules. Audience is the default.
func (a *App) GuardConfig() guard.Config {
	return guard.Config{
		Issuer: a.issuer.String(), Audience: a.audience()[0], Verifier: a.Verifier(), Hidden: a.hidden,
		Attempts: a.attempts, ClientIP: handler.ClientIP, Admit: a.shedder.AdmitToken,
	}
}

// Verifier verifies tokens under this configuration.
func (a *App) Verifier() core.Verifier {
	return core.Verifier{Core: a.core, Clients: a.clients, Users: a.users}
}

// forgeryLogged is how often at most the log names an address with forged tokens.
const forgeryLogged = 10 * time.Second

// WarnForgeries logs to log, a guard's, that an address presents many forged tokens. With many
// addresses a line for each would let strangers fill the log.
func (a *App) WarnForgeries(log *slog.Logger, address string) {
	now, last := time.Now().UnixNano(), a.forgeries.Load()
	if now-last > int64(forgeryLogged) && a.forgeries.CompareAndSwap(last, now) {
		log.Warn("an address presents many forged tokens; they are answered with 401, and nothing else from there is refused", "address", address)
	}
}

// Limiter is where requests are counted. The caller MUST Hold the app meanwhile.
func (a *App) Limiter() ratelimit.Source {
	a.placeLimits.Do(func() { ratelimit.AssignPlaces(a.limits) })
	return a.limiter
}

// CountTogether says, while the configuration is provisioned, that one request may fall under all of
// these policies.
func (a *App) CountTogether(policies []ratelimit.Counted) { a.limits = append(a.limits, policies) }

// FailsWithLimiter says, while the configuration is provisioned, that an api_limit refuses
// requests while the counts are out of reach: such a node is not ready.
func (a *App) FailsWithLimiter() { a.limitsClose = true }

// UnknownClient reports whether clients are configured and none of them has this id.
func (a *App) UnknownClient(id string) bool {
	return len(a.clients.Configured) > 0 && a.clients.Configured[id] == nil
}

// Servers are the configuration's HTTP servers with handlers of Gatehouse.
func (a *App) Servers() *servers.Servers { return a.servers }

// LimitExceededEvent is the name of the Caddy event about a request that an api_limit refused.
const LimitExceededEvent = "gatehouse_limit_exceeded"

// LimitEvents emits such events. It is a queue of its own: a flood of refused requests must not
// cost the subscribers of the audit trail an event.
func (a *App) LimitEvents() *eventqueue.Queue { return a.limitEvents }

// Decisions is where the handlers publish what they decide, for those who watch.
func (a *App) Decisions() *watch.Feed { return a.decisions }

// Trail is the audit trail.
func (a *App) Trail() audit.Sink { return a.trail }

// Traced is a request's context with which the trail records the request's address and id.
func (a *App) Traced(r *http.Request) context.Context { return a.trail.WithFacts(r).Context() }

// running reports whether the configuration of this app is in force.
func (a *App) running() bool {
	active, err := configuredApp(caddy.ActiveContext())
	return err == nil && active == a
}

// hidden reports whether a scope is declared and hidden.
func (a *App) hidden(scope string) bool {
	return slices.ContainsFunc(a.Scopes, func(s Scope) bool { return s.Name == scope && s.Hidden })
}

// AddOwnResource adds the scopes of a guard whose audience is the issuer to the metadata of
// the issuer as a protected resource.
func (a *App) AddOwnResource(scopes []string) { a.ownResource.add(a.issuer.String(), scopes) }
