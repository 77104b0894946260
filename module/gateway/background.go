package gateway

import (
	"context"
	"fmt"
	"log/slog"
	"net/http"
	"time"

	"github.com/caddyserver/caddy/v2"

	"github.com/gatehouse/gatehouse/module/guard"
	"github.com/gatehouse/gatehouse/module/internal/audit"
	"github.com/gatehouse/gatehouse/module/internal/core"
	"github.com/gatehouse/gatehouse/module/internal/handler"
	"github.com/gatehouse/gatehouse/module/internal/secret"
	"github.com/gatehouse/gatehouse/module/internal/servers"
	"github.com/gatehouse/gatehouse/module/internal/token"
	"github.com/gatehouse/gatehouse/module/ratelimit"
	"github.com/gatehouse/gatehouse/module/store"
)

// Background is what a handler does when no request asks for it.
type Background interface {
	// Start MUST return at once. It is called when the configuration is in force.
	Start()
	// Stop begins nothing new. What was begun goes on; Stop is called once for each Start
	// or without one, also more than once.
	Stop()
	// Drain is called after Stop when the process ends: what was begun has so long to end,
	// and is interrupted then.
	Drain(grace time.Duration)
}

// Backlogged is a [Background] with work that waits.
type Backlogged interface {
	// Backlog MUST return at once. The name is from the configuration; known is false while
	// nothing is known.
	Backlog() (name string, waiting int, known bool)
}

// drainTime is how long the end of the process waits for what runs in the background.
const drainTime = 5 * time.Second

// attached is what runs in the background of one configuration.
type attached struct {
	all  []Background
	made map[string]string // what has a name, and from what it was made
}

// Attach runs b while the configuration does. Two of the same name must be made from the
// same: a site with several addresses is there several times.
func (a *App) Attach(name, from string, b Background) error {
	if other, ok := a.attached.made[name]; ok && other != from {
		return fmt.Errorf("there is another one of the name %s in this configuration: expected a `name` of its own for each", name)
	}
	if a.attached.made == nil {
		a.attached.made = make(map[string]string)
	}
	a.attached.made[name] = from
	a.attached.all = append(a.attached.all, b)
	return nil
}

func (b *attached) start() {
	for _, one := range b.all {
		one.Start()
	}
}

func (b *attached) stop() {
	for _, one := range b.all {
		one.Stop()
	}
	if !caddy.Exiting() {
		return
	}
	end := time.Now().Add(drainTime)
	for _, one := range b.all {
		one.Drain(max(time.Until(end), 0))
	}
}

// backlog is what waits, by name. A site with several addresses has one of a name for each.
func (b *attached) backlog() map[string]int {
	all := make(map[string]int)
	for _, one := range b.all {
		if q, ok := one.(Backlogged); ok {
			if name, n, known := q.Backlog(); known {
				all[name] = n
			}
		}
	}
	return all
}

// Store is where state is kept. It opens at its first use.
func (a *App) Store() store.Backend { return a.core.Store }

// Keys are the gateway's, the same on all nodes. The store may have to be asked for their
// secret: an error is a fault of it. The caller MUST Hold the app meanwhile.
func (a *App) Keys(ctx context.Context) (*secret.Keys, error) { return a.core.Keys(ctx) }

// Hold keeps what the configuration has open until the result is called: for a request, or
// for work that outlives the configuration.
func (a *App) Hold() (release func(), err error) { return a.lease.Enter() }

// Identify makes a request without a client one of this caller's, for placeholders and logs.
func (a *App) Identify(r *http.Request, access *token.Access) { handler.Identify(r, access, a.names) }

// GuardConfig is what guards of this configuration have in common: all but their policies.
// Audience is that of a guard that names none.
func (a *App) GuardConfig() guard.Config {
	return guard.Config{
		Issuer: a.issuer.String(), Audience: a.audience()[0], Verifier: a.verifier(), Hidden: a.hidden,
		Attempts: a.attempts, ClientIP: handler.ClientIP, Admit: a.shedder.AdmitToken,
	}
}

func (a *App) verifier() core.Verifier {
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
func (a *App) Limiter() ratelimit.Source { return a.limiter }

// FailsWithLimiter notes, while the configuration is provisioned, that an api_limit refuses
// requests while the counts are out of reach: a node without them is not ready.
func (a *App) FailsWithLimiter() { a.limitsClose = true }

// UnknownClient reports whether clients are configured and none of them has this id.
func (a *App) UnknownClient(id string) bool {
	return len(a.clients.Configured) > 0 && a.clients.Configured[id] == nil
}

// Servers are the configuration's HTTP servers with handlers of Gatehouse.
func (a *App) Servers() *servers.Servers { return a.servers }

// Trail is the audit trail.
func (a *App) Trail() audit.Sink { return a.trail }

// Traced is the request's context, by which the trail knows its address and id.
func (a *App) Traced(r *http.Request) context.Context { return a.trail.WithFacts(r).Context() }

// running reports whether the configuration of this app is in force.
func (a *App) running() bool {
	running, err := caddy.ActiveContext().AppIfConfigured(AppName)
	return err == nil && running == any(a)
}
