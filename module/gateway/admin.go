package gateway

import (
	"errors"
	"fmt"
	"net/http"

	"github.com/caddyserver/caddy/v2"

	"github.com/gatehouse/gatehouse/module/internal/adminapi"
	"github.com/gatehouse/gatehouse/module/internal/handler"
)

func init() { caddy.RegisterModule(AdminAPI{}) }

// AdminAPI serves, on Caddy's own admin endpoint, what an operator does with users,
// clients, grants and signing keys. It answers only when that endpoint is a loopback
// address or a unix socket, and never a browser.
//
// Path | Methods | What
// -----|---------|------
// `/gatehouse/users` | GET, POST | users kept in the store
// `/gatehouse/users/{user}` | GET, PATCH, DELETE | one of them, by id or user name
// `/gatehouse/users/{user}/lock`, `/unlock`, `/password` | POST |
// `/gatehouse/users/{user}/grants` | GET, DELETE | what a user has granted; DELETE ends it all, sessions too, or with `?client=` what one client got
// `/gatehouse/users/{user}/grants/{grant}` | DELETE |
// `/gatehouse/clients` | GET, POST | clients, those of the configuration too
// `/gatehouse/clients/{client}` | GET, PATCH, DELETE |
// `/gatehouse/clients/{client}/rotate-secret` | POST |
// `/gatehouse/keys` | GET | signing keys, never their private half
// `/gatehouse/keys/rotate` | POST |
// `/gatehouse/keys/{kid}` | DELETE | revokes a leaked key
// `/gatehouse/tokens/inspect` | POST | what an access token (`{"token"}`) contains, and which check it fails
// `/gatehouse/doctor` | GET | what the gateway finds when it looks at itself
// `/gatehouse/ready`, `/ready` | GET | whether this node can serve (200) or not (503), and what is wrong
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
	return []caddy.AdminRoute{
		{Pattern: adminapi.Base, Handler: caddy.AdminHandlerFunc(serveAdmin)},
		{Pattern: adminapi.ReadyPath, Handler: caddy.AdminHandlerFunc(serveAdmin)},
	}
}

// serveAdmin answers errors itself: Caddy would log them with their text, and its body
// has neither code nor field.
func serveAdmin(w http.ResponseWriter, r *http.Request) error {
	w.Header().Set("Cache-Control", "no-store")
	w.Header().Set("X-Content-Type-Options", "nosniff")
	if why := distrusted(r); why != "" {
		writeAdminError(w, r, handler.Error(http.StatusForbidden, &handler.Failure{Code: "forbidden", Message: why}))
		return nil
	}
	path := r.URL.EscapedPath()
	if path == adminapi.ReadyPath {
		path = adminapi.Path("ready")
	}
	rt, names := findAdminRoute(path)
	if rt == nil {
		writeAdminError(w, r, notFound("no such address; those of the gateway are described at the module admin.api.gatehouse"))
		return nil
	}
	handle, ok := rt.handle[r.Method]
	if !ok {
		w.Header().Set("Allow", rt.allow())
		writeAdminError(w, r, handler.Error(http.StatusMethodNotAllowed, &handler.Failure{Code: "method_not_allowed", Message: "this address answers " + rt.allow() + " only"}))
		return nil
	}
	app, leave, err := runningApp()
	if err != nil {
		writeAdminError(w, r, err)
		return nil
	}
	defer leave()
	answer, err := handle(&adminCall{App: app, w: w, r: r, names: names})
	if err != nil {
		writeAdminError(w, r, err)
		return nil
	}
	answer.write(w)
	return nil
}

// runningApp is the app of the configuration that runs now, held until leave.
func runningApp() (_ *App, leave func(), err error) {
	v, err := caddy.ActiveContext().AppIfConfigured(AppName)
	if errors.Is(err, caddy.ErrNotConfigured) && caddy.Exiting() {
		return nil, nil, handler.Error(http.StatusServiceUnavailable, &handler.Failure{Code: "stopping", Message: "the gateway is about to end"})
	}
	if errors.Is(err, caddy.ErrNotConfigured) {
		return nil, nil, handler.Error(http.StatusServiceUnavailable, &handler.Failure{
			Code: "not_configured", Message: "the running configuration has no global option `gatehouse { issuer ... }`; load one that has",
		})
	}
	if err != nil {
		return nil, nil, err
	}
	app, ok := v.(*App)
	if !ok {
		return nil, nil, fmt.Errorf("the app %s is of type %T", AppName, v)
	}
	if leave, err = app.lease.enter(); err != nil {
		return nil, nil, err
	}
	return app, leave, nil
}

// Interface guard
var _ caddy.AdminRouter = (*AdminAPI)(nil)
