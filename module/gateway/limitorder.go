package gateway

import (
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync/atomic"

	"github.com/caddyserver/caddy/v2"
	"github.com/caddyserver/caddy/v2/modules/caddyhttp"
)

// NeedsGuard reports whether the policy counts whom, or what, only a guard in front can
// tell. Without one it applies to no request.
func (p Policy) NeedsGuard() bool {
	return p.By == "client" || p.By == "user" || p.By == "route" || strings.Contains(p.By, "{http.auth.user.")
}

// checkOrder refuses a limit by caller that stands in front of the guard in its own route:
// it would limit nobody, silently. Caddy shows a handler that is provisioned the modules
// around it, but not where it stands, so each of the lists around it is looked at as a
// whole, and where a guard may stand in front after all nothing is refused.
func checkOrder(ctx caddy.Context) error {
	var lists []caddyhttp.RouteList
	for _, m := range ctx.Modules() {
		if s, ok := m.(*caddyhttp.Subroute); ok {
			lists = append(lists, s.Routes)
		}
	}
	server, ok := ctx.Value(caddyhttp.ServerCtxKey).(*caddyhttp.Server)
	switch {
	case len(lists) == 0 && ok:
		lists = append(lists, server.Routes)
	case len(lists) == 0:
		return nil
	case ok && slices.ContainsFunc(server.Routes, hasGuard):
		return nil
	}
	inner := lists[len(lists)-1]
	for _, outer := range lists[:len(lists)-1] {
		if countGuards(outer) != countGuards(inner) {
			return nil
		}
	}
	return misplaced(inner)
}

// misplaced looks for a guard behind a limit that needs it.
func misplaced(list caddyhttp.RouteList) error {
	var before *Policy
	group := ""
	for _, rt := range list {
		if guardsAmong(rt.Handlers) > 0 {
			return nil
		}
		for _, raw := range rt.HandlersRaw {
			h := handlerOf(raw)
			switch guards := h.guards(); {
			case before == nil && (guards > 0 || h.Handler == "invoke"):
				return nil
			case guards > 0 && (rt.Group == "" || rt.Group != group):
				return fmt.Errorf("api_limit: the policy %s counts whom oauth_guard identifies, and would count nobody: oauth_guard stands behind it; put oauth_guard in front of api_limit", before.Name)
			case h.Handler == "api_limit" && before == nil:
				if i := slices.IndexFunc(h.Policies, Policy.NeedsGuard); i >= 0 {
					before, group = &h.Policies[i], rt.Group
				}
			}
		}
	}
	return nil
}

// rawHandler is what is read of a handler before it is loaded.
type rawHandler struct {
	Handler  string          `json:"handler"`
	Routes   json.RawMessage `json:"routes"`   // of subroute
	Policies []Policy        `json:"policies"` // of api_limit
}

func handlerOf(raw json.RawMessage) (h rawHandler) {
	var name struct {
		Handler string `json:"handler"`
	}
	if json.Unmarshal(raw, &name) == nil && slices.Contains([]string{"api_limit", "subroute", "oauth_guard", "invoke"}, name.Handler) {
		_ = json.Unmarshal(raw, &h) // what is wrong with it is said when it is loaded
	}
	return h
}

// guards is how many guards a handler is or holds.
func (h rawHandler) guards() int {
	switch h.Handler {
	case "oauth_guard":
		return 1
	case "subroute":
		var below caddyhttp.RouteList
		if json.Unmarshal(h.Routes, &below) == nil {
			return countGuards(below)
		}
	}
	return 0
}

// countGuards counts the guards of a list, and routes by name, which may hold some.
func countGuards(list caddyhttp.RouteList) (n int) {
	for _, rt := range list {
		n += guardsAmong(rt.Handlers)
		for _, raw := range rt.HandlersRaw {
			h := handlerOf(raw)
			if n += h.guards(); h.Handler == "invoke" {
				n++
			}
		}
	}
	return n
}

// guardsAmong is countGuards for handlers that were loaded. Caddy forgets the text of those.
func guardsAmong(handlers []caddyhttp.MiddlewareHandler) (n int) {
	for _, h := range handlers {
		switch h := h.(type) {
		case *Guard, *caddyhttp.Invoke:
			n++
		case *caddyhttp.Subroute:
			n += countGuards(h.Routes)
		}
	}
	return n
}

// hasGuard reports whether a guard stands in a route itself.
func hasGuard(rt caddyhttp.Route) bool {
	return slices.ContainsFunc(rt.HandlersRaw, func(raw json.RawMessage) bool { return handlerOf(raw).Handler == "oauth_guard" }) ||
		slices.ContainsFunc(rt.Handlers, func(h caddyhttp.MiddlewareHandler) bool { _, ok := h.(*Guard); return ok })
}

// orderWarning says once that a limit's first request came without having passed a guard.
type orderWarning struct{ looked atomic.Bool }

// look is called for every request.
func (o *orderWarning) look(l *Limit, r *http.Request) {
	if o.looked.Load() || !o.looked.CompareAndSwap(false, true) {
		return
	}
	i := slices.IndexFunc(l.Policies, Policy.NeedsGuard)
	if i < 0 || caddyhttp.GetVar(r.Context(), identityVar) != nil {
		return
	}
	l.log.Warn("api_limit: a policy counts whom oauth_guard identifies, and the first request came without passing an oauth_guard: where none stands in front, the policy limits nobody",
		"policy", l.Policies[i].Name)
}
