package gateway

import (
	"net/http"

	"github.com/caddyserver/caddy/v2"

	"github.com/gatehouse/gatehouse/module/currentlog"
	"github.com/gatehouse/gatehouse/module/internal/admin"
	"github.com/gatehouse/gatehouse/module/internal/adminapi"
)

func init() { caddy.RegisterModule(AdminAPI{}) }

// AdminAPI manages users, clients, grants and signing keys on Caddy's own admin endpoint. It
// answers only if that endpoint is a loopback address or a unix socket, and never a browser.
//
// Path | Methods | What
// -----|---------|------
// `/gatehouse/users` | GET, POST | users kept in the store
// `/gatehouse/import/users` | POST | at most 500 users of another program (`{"users", "dry_run", "update"}`), with their hashes
// `/gatehouse/users/{user}` | GET, PATCH, DELETE | one of them, by id or user name
// `/gatehouse/users/{user}/lock` | POST | locks a user, who is signed out everywhere
// `/gatehouse/users/{user}/unlock` | POST | ends that
// `/gatehouse/users/{user}/password` | POST | sets a password (`{"password"}`), and signs the user out everywhere
// `/gatehouse/users/{user}/grants` | GET, DELETE | what a user has granted; DELETE ends it all, sessions too, or with `?client=` what one client got
// `/gatehouse/users/{user}/grants/{grant}` | DELETE | ends one grant
// `/gatehouse/clients` | GET, POST | clients, those of the configuration too
// `/gatehouse/clients/{client}` | GET, PATCH, DELETE | one of them
// `/gatehouse/clients/{client}/rotate-secret` | POST | gives a client another secret, and shows it once
// `/gatehouse/keys` | GET | signing keys, never their private half
// `/gatehouse/keys/rotate` | POST | makes the next signing key
// `/gatehouse/keys/{kid}` | DELETE | revokes a leaked key
// `/gatehouse/tokens/inspect` | POST | what an access token (`{"token"}`) contains, and which check it fails
// `/gatehouse/backup` | GET | a copy of the file of `store bolt`, without the secret
// `/gatehouse/compact` | POST | removes the free space from the file of `store bolt`
// `/gatehouse/doctor` | GET | what the gateway finds when it looks at itself
// `/gatehouse/watch` | GET | the decisions on requests as they are made, one JSON object a line, selected by `?client=`, `user`, `path` (a prefix), `status` (such as `429,5xx`) and `refused=true`
// `/gatehouse/ready` | GET | whether this node can serve (200) or not (503), and what is wrong
//
// Errors are the envelope `{"error":{"code","message","field"}}`.
type AdminAPI struct{}

// CaddyModule returns the Caddy module information.
func (AdminAPI) CaddyModule() caddy.ModuleInfo {
	return caddy.ModuleInfo{ID: "admin.api.gatehouse", New: func() caddy.Module { return new(AdminAPI) }}
}

// Routes implements [caddy.AdminRouter]. The router holds nothing of a configuration:
// Caddy makes it before the apps, keeps it when a load fails and never cleans it up.
func (AdminAPI) Routes() []caddy.AdminRoute {
	return []caddy.AdminRoute{{Pattern: adminapi.Base, Handler: caddy.AdminHandlerFunc(serveAdmin)}}
}

// serveAdmin answers errors itself: Caddy would log their texts, and its responses have neither
// code nor field.
func serveAdmin(w http.ResponseWriter, r *http.Request) error {
	w.Header().Set("Cache-Control", "no-store")
	w.Header().Set("X-Content-Type-Options", "nosniff")
	log := currentlog.Slog("admin.api.gatehouse")
	if why := distrusted(r); why != "" {
		admin.WriteError(w, r, log, admin.Refuse(http.StatusForbidden, "forbidden", why))
		return nil
	}
	admin.Serve(w, r, log, func() (*admin.Config, func(), error) {
		app, leave, err := runningApp()
		if err != nil {
			return nil, nil, err
		}
		return app.administered(), leave, nil
	})
	return nil
}

// administered is the view that the admin API has of a configuration.
func (a *App) administered() *admin.Config {
	return &admin.Config{
		Issuer: a.issuer, Server: a.server,
		Store: a.core.Store, OpenStore: a.core.Store.Open, OwnSecret: len(a.Secrets) == 0,
		Ring: a.core.Ring, KeyAge: a.core.Tending.Age, Revocations: a.core.Revocations, Verify: a.Verifier().Verify,
		TokenCache: a.core.TokenCache, Configured: a.clients.Configured, Stored: a.clients.Stored, Registrations: a.Registration.most(),
		Users: a.users, UsersIn: a.usersIn,
		OpenLimiter: a.limiter.Source, LimiterMemory: a.limiter.Stats, LimitsFailClosed: a.limitsClose,
		Decisions: a.decisions, Tickets: a.tickets, SharedPorts: a.servers.SharedPorts, Readiness: a.readiness, ChangedFiles: a.loaded.Changed, ParseDuration: caddy.ParseDuration,
	}
}

// Interface guard
var _ caddy.AdminRouter = (*AdminAPI)(nil)
