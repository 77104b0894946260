package gateway

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"

	"github.com/caddyserver/caddy/v2"
	"github.com/caddyserver/caddy/v2/modules/caddyhttp"

	"github.com/gatehouse/gatehouse/module/internal/admin"
	"github.com/gatehouse/gatehouse/module/internal/adminapi"
	"github.com/gatehouse/gatehouse/module/internal/handler"
	"github.com/gatehouse/gatehouse/module/internal/pool"
)

func init() { caddy.RegisterModule(new(Health)) }

const healthDirective = "gatehouse_health"

// Health is the handler `gatehouse_health`, which tells load balancers and orchestrators whether
// this node can serve, and whether its process runs. Responses name the parts the node depends
// on and whether they work, nothing else; `/gatehouse/ready` of the admin endpoint says what is wrong
// with them. Other paths go to the next handler.
type Health struct {
	// The path that answers 200 when this node can serve and 503 when not. Default:
	// `/ready`.
	Ready string `json:"ready,omitempty"`
	// The path that answers 200 as long as the process runs, whatever the state of the store.
	// Default: `/live`.
	Live string `json:"live,omitempty"`

	app *App
}

// CaddyModule returns the Caddy module information.
func (*Health) CaddyModule() caddy.ModuleInfo {
	return caddy.ModuleInfo{ID: "http.handlers.gatehouse_health", New: func() caddy.Module { return new(Health) }}
}

// Provision finds the app.
func (h *Health) Provision(ctx caddy.Context) (err error) {
	if err := h.Check(); err != nil {
		return fmt.Errorf("%s: %w", healthDirective, err)
	}
	h.app, err = FindApp(ctx, healthDirective)
	return err
}

// Check fills in the defaults and reports what is wrong with the paths.
func (h *Health) Check() error {
	h.Ready, h.Live = cmp.Or(h.Ready, "/ready"), cmp.Or(h.Live, "/live")
	for _, path := range []string{h.Ready, h.Live} {
		if err := CheckHealthPath(path); err != nil {
			return err
		}
	}
	if h.Ready == h.Live {
		return errors.New("expected one path for readiness and another for liveness")
	}
	return nil
}

// CheckHealthPath reports what is wrong with a path of gatehouse_health.
func CheckHealthPath(path string) error {
	if !strings.HasPrefix(path, "/") || strings.ContainsAny(path, "*{?#") {
		return fmt.Errorf("'%s': expected a path such as /ready", path)
	}
	return nil
}

// ServeHTTP answers the two paths.
func (h *Health) ServeHTTP(w http.ResponseWriter, r *http.Request, next caddyhttp.Handler) error {
	if r.URL.Path != h.Ready && r.URL.Path != h.Live {
		return next.ServeHTTP(w, r)
	}
	handler.CloseWhenExiting(w, r)
	handler.LeaveBody(w, r)
	handler.KeepAnswer(r) // api_errors must not rewrite the 503
	w.Header().Set("Cache-Control", "no-store")
	if r.Method != http.MethodGet && r.Method != http.MethodHead {
		w.Header().Set("Allow", "GET, HEAD")
		w.WriteHeader(http.StatusMethodNotAllowed)
		return nil
	}
	if r.URL.Path == h.Live {
		writeHealth(w, r, http.StatusOK, health{Status: "live"})
		return nil
	}
	leave, err := h.app.lease.Enter()
	if err == nil && caddy.Exiting() { // balancers should send nothing new while it still serves
		leave()
		err = pool.ErrGone
	}
	if err != nil {
		w.Header().Set("Retry-After", "1")
		writeHealth(w, r, http.StatusServiceUnavailable, health{Status: "unavailable"})
		return nil
	}
	defer leave()
	found := h.app.readiness(r.Context())
	writeHealth(w, r, admin.ReadyStatus(w, found), publicHealth(found))
	return nil
}

// health is the part of the readiness that anybody may see.
type health struct {
	Status string            `json:"status"`
	Parts  map[string]string `json:"parts,omitempty"`
}

func publicHealth(found adminapi.Readiness) health {
	public := health{Status: "ready", Parts: make(map[string]string, len(found.Parts))}
	if !found.Ready {
		public.Status = "unavailable"
	}
	for _, p := range found.Parts {
		public.Parts[p.Part] = adminapi.StateOK
		if p.State != adminapi.StateOK {
			public.Parts[p.Part] = adminapi.StateFailing
		}
	}
	return public
}

func writeHealth(w http.ResponseWriter, r *http.Request, status int, body health) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	if r.Method != http.MethodHead {
		_ = json.NewEncoder(w).Encode(body) // an error means that the client is gone
	}
}

// Interface guards
var (
	_ caddy.Provisioner           = (*Health)(nil)
	_ caddyhttp.MiddlewareHandler = (*Health)(nil)
)
