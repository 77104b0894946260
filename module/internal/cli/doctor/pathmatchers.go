package doctor

import (
	"encoding/json"
	"slices"
	"strings"

	"github.com/gatehouse/gatehouse/module/internal/adminapi"
	"github.com/gatehouse/gatehouse/module/internal/cli/explain"
	"github.com/gatehouse/gatehouse/module/internal/routes"
)

// pathMatchers looks for guards and limits that a path matcher of Caddy restricts, in front of an API that other requests of the site
// reach as well. To the matcher `/admin;x/` is not `/admin/`, but to Tomcat it is, so the request passes beside the guard.
func (p configuration) pathMatchers() (out adminapi.Findings) {
	for _, name := range explain.SortedKeys(p.Servers) {
		s := p.Servers[name]
		for _, rt := range s.Routes {
			w := way{named: s.NamedRoutes}
			w.follow(rt.Handle, false, "", false)
			hosts, _ := rt.Hosts()
			site := strings.Join(append(hosts, s.Listen...), " ")
			if w.passes(w.guarded, w.guardAlone) {
				out.Warn("guard", "put the guard in front of the whole site, without a matcher: rules name paths, and `public * /*` admits the rest",
					"a path matcher restricts an oauth_guard of the site %s, and the API is reached without it too: one that reads `/admin;x/` or `/%%2561dmin/` as `/admin/` lets anybody in", site)
			}
			if w.passes(w.limited, w.limitAlone) {
				out.Warn("limit", "put a guard without a matcher in front, if only with `public * /*`: it refuses such paths; or let the limit hold for the whole site",
					"a path matcher restricts an api_limit of the site %s, and the API is reached without it too: by `/login;x`, for one that reads it as `/login`", site)
			}
		}
	}
	return out
}

// way is what is met on the way through a site.
type way struct {
	named                  map[string]routes.Route
	depth                  int
	open                   []string // addresses of proxies that no guard stands in front of
	guarded, limited       []string // addresses behind a guard or a limit that a path matcher restricts
	guardAlone, limitAlone bool     // there is one in a route of its own, for proxies of other routes
}

// passes reports whether requests that the matcher does not match reach the same API.
func (w *way) passes(behind []string, alone bool) bool {
	return len(w.open) > 0 && (alone || slices.ContainsFunc(behind, func(to string) bool { return slices.Contains(w.open, to) }))
}

// follow follows the handlers of a route. byPath says that a path matcher leads here; behind is what it restricts: guard, limit, or nothing
// yet; guarded says that every request here has passed a guard. It returns the same for what comes after, and whether a proxy was met.
func (w *way) follow(handle []json.RawMessage, byPath bool, behind string, guarded bool) (after string, passed, proxied bool) {
	w.depth++
	defer func() { w.depth-- }()
	for _, raw := range handle {
		h, ok := routes.ReadHandler(raw)
		if !ok || w.depth > 8*routes.MaxInvocations {
			continue
		}
		list := h.Routes
		if h.Handler == "invoke" {
			list = []routes.Route{w.named[h.Name]}
		}
		for _, rt := range list {
			path := byPath || matchesPath(rt)
			inner, through, met := w.follow(rt.Handle, path, behind, guarded)
			proxied = proxied || met
			switch {
			case len(rt.Match) == 0:
				behind, guarded = inner, through
			case !met && matchesPath(rt): // it is there for what comes after
				w.guardAlone = w.guardAlone || inner == "gatehouse_guard" && behind == "" && !guarded
				w.limitAlone = w.limitAlone || inner == "gatehouse_limit" && behind == "" && !guarded
			}
		}
		switch _, ours := h.Providers["gatehouse"]; {
		case h.Handler == "gatehouse_guard" || ours:
			if byPath && !guarded {
				behind = "gatehouse_guard"
			}
			guarded = true
		case h.Handler == "gatehouse_limit" && byPath && !guarded && behind == "":
			behind = h.Handler
		case h.Handler == "reverse_proxy" && len(h.HandleResponse) == 0, h.Handler == "gatehouse_proxy", h.Handler == "gatehouse_rest" && h.Answers():
			proxied = true
			w.note(behind, guarded, addressesOf(raw))
		}
	}
	return behind, guarded, proxied
}

func (w *way) note(behind string, guarded bool, to []string) {
	switch {
	case behind == "gatehouse_guard":
		w.guarded = append(w.guarded, to...)
	case behind == "gatehouse_limit":
		w.limited = append(w.limited, to...)
	case !guarded:
		w.open = append(w.open, to...)
	}
}

func matchesPath(rt routes.Route) bool {
	return slices.ContainsFunc(rt.Match, func(set map[string]json.RawMessage) bool { return set["path"] != nil || set["path_regexp"] != nil })
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
