package doctor

import (
	"encoding/json"
	"slices"
	"strings"

	"github.com/gatehouse/gatehouse/module/internal/adminapi"
	"github.com/gatehouse/gatehouse/module/internal/cli/explain"
	"github.com/gatehouse/gatehouse/module/internal/routes"
)

// pathMatchers looks for path matchers of Caddy that decide whether a request passes a guard or a limit before it reaches an API. To
// the matcher `/admin;x/` is not `/admin/`, but to Tomcat it is, so the request passes beside the guard.
func (p configuration) pathMatchers() (out adminapi.Findings) {
	for _, name := range explain.SortedKeys(p.Servers) {
		s := p.Servers[name]
		for _, site := range sitesOf(s.Routes) {
			w := way{named: s.NamedRoutes}
			w.list(site, false, "", false)
			hosts, _ := site[0].Hosts()
			at := strings.Join(append(hosts, s.Listen...), " ")
			if w.passesGuard() {
				out.Warn("guard", "put the guard in front of the whole site, without a matcher: rules name paths, and `public` rules admit the rest",
					"a path matcher of the site %s decides whether a request passes oauth_guard before it reaches the API: one that reads `/admin;x/` or `/%%2561dmin/` as `/admin/` lets anybody in", at)
			}
			if w.passesLimit() {
				out.Warn("limit", "put a guard without a matcher in front, if only with `public * /*`: it refuses such paths; or let the limit hold for the whole site",
					"a path matcher of the site %s decides whether a request passes api_limit before it reaches the API: one that reads `/login;x` as `/login` is not limited", at)
			}
		}
	}
	return out
}

// sitesOf divides the routes of a server where a route is the last for its requests. The routes of a server's only site need not be
// in one route of their own.
func sitesOf(list []routes.Route) (sites [][]routes.Route) {
	begin := 0
	for i, rt := range list {
		if rt.Terminal || i == len(list)-1 {
			sites, begin = append(sites, list[begin:i+1]), i+1
		}
	}
	return sites
}

// way is what is met on the way through a site.
type way struct {
	named   map[string]routes.Route
	invoked int // depth of invocations

	// Addresses of proxies: without a guard, and of these behind a path matcher; behind a guard, or a limit, that a path matcher
	// restricts; and behind a guard that none restricts.
	open, openByPath, guarded, limited, guardedAlways []string
	guardAlone, limitAlone                            bool // one that is restricted is in a route of its own, for proxies of other routes
}

func (w *way) passesGuard() bool {
	return len(w.open) > 0 && w.guardAlone || intersect(w.guarded, w.open) || intersect(w.guardedAlways, w.openByPath)
}

func (w *way) passesLimit() bool {
	return len(w.open) > 0 && w.limitAlone || intersect(w.limited, w.open)
}

func intersect(a, b []string) bool {
	return slices.ContainsFunc(a, func(one string) bool { return slices.Contains(b, one) })
}

// list follows routes. byPath says that a path matcher leads here; behind is what it restricts: guard, limit, or nothing yet; guarded
// says that every request here has passed a guard. It returns the last two for what comes after, and whether a proxy was met.
func (w *way) list(all []routes.Route, byPath bool, behind string, guarded bool) (after string, passed, proxied bool) {
	for _, rt := range all {
		inner, through, met := w.chain(rt.Handle, byPath || matchesPath(rt.Match), behind, guarded)
		proxied = proxied || met
		_, restricted := rt.Hosts()
		switch {
		case !restricted:
			behind, guarded = inner, through
		case !met && matchesPath(rt.Match): // it is there for what comes after
			w.guardAlone = w.guardAlone || inner == "gatehouse_guard" && behind == "" && !guarded
			w.limitAlone = w.limitAlone || inner == "gatehouse_limit" && behind == "" && !guarded
		}
	}
	return behind, guarded, proxied
}

// chain follows the handlers of a route.
func (w *way) chain(handle []json.RawMessage, byPath bool, behind string, guarded bool) (after string, passed, proxied bool) {
	for _, raw := range handle {
		h, ok := routes.ReadHandler(raw)
		if !ok {
			continue
		}
		met := false
		switch _, ours := h.Providers["gatehouse"]; {
		case h.Handler == "subroute":
			behind, guarded, met = w.list(h.Routes, byPath, behind, guarded)
		case h.Handler == "invoke" && w.invoked < routes.MaxInvocations:
			w.invoked++
			behind, guarded, met = w.list([]routes.Route{w.named[h.Name]}, byPath, behind, guarded)
			w.invoked--
		case h.Handler == "gatehouse_guard" || ours:
			if byPath && !guarded {
				behind = "gatehouse_guard"
			}
			guarded = true
		case h.Handler == "gatehouse_limit" && byPath && !guarded && behind == "":
			behind = h.Handler
		case h.Handler == "reverse_proxy" && len(h.HandleResponse) == 0, h.Handler == "gatehouse_proxy", h.Handler == "gatehouse_rest" && h.Answers():
			met = true
			w.note(byPath, behind, guarded, addressesOf(raw))
		}
		proxied = proxied || met
	}
	return behind, guarded, proxied
}

func (w *way) note(byPath bool, behind string, guarded bool, to []string) {
	switch {
	case behind == "gatehouse_guard":
		w.guarded = append(w.guarded, to...)
	case guarded:
		w.guardedAlways = append(w.guardedAlways, to...)
	case behind == "gatehouse_limit":
		w.limited = append(w.limited, to...)
	default:
		w.open = append(w.open, to...)
		if byPath {
			w.openByPath = append(w.openByPath, to...)
		}
	}
}

// matchesPath reports whether matchers look at the path.
func matchesPath(sets []map[string]json.RawMessage) bool {
	return slices.ContainsFunc(sets, func(set map[string]json.RawMessage) bool {
		var not []map[string]json.RawMessage
		_ = json.Unmarshal(set["not"], &not) // none if there is no such matcher
		return set["path"] != nil || set["path_regexp"] != nil || strings.Contains(string(set["expression"]), "path") || matchesPath(not)
	})
}

// addressesOf returns the addresses of a proxy, or "" if they are not known before a request.
func addressesOf(raw json.RawMessage) (all []string) {
	var proxy struct {
		Upstreams []json.RawMessage `json:"upstreams"`
		Upstream  []routes.Route    `json:"upstream"` // of api_rest
	}
	_ = json.Unmarshal(raw, &proxy) // what cannot be read has no addresses
	for _, one := range proxy.Upstreams {
		var text string
		var dial struct {
			Dial string `json:"dial"`
		}
		if json.Unmarshal(one, &text) != nil && json.Unmarshal(one, &dial) == nil {
			text = dial.Dial
		}
		all = append(all, text)
	}
	for _, rt := range proxy.Upstream {
		for below := range rt.Handlers() {
			all = append(all, addressesOf(below)...)
		}
	}
	if len(all) == 0 {
		return []string{""}
	}
	return all
}
