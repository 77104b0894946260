package doctor

import (
	"encoding/json"
	"slices"
	"strings"

	"github.com/gatehouse/gatehouse/module/internal/adminapi"
	"github.com/gatehouse/gatehouse/module/internal/cli/explain"
	"github.com/gatehouse/gatehouse/module/internal/routes"
)

// besideGuards looks for matchers of Caddy that decide whether a request passes a guard or a limit before it reaches an API. To a
// matcher of paths `/admin;x/` is not `/admin/`, but to Tomcat it is, so the request passes beside the guard.
func (p configuration) besideGuards() (out adminapi.Findings) {
	for _, name := range explain.SortedKeys(p.Servers) {
		s := p.Servers[name]
		for _, site := range sitesOf(s.Routes) {
			at := addressOf(s, site)
			byPath, byChoice := followSite(s, site, matchesPath), followSite(s, site, matchesChoice)
			switch remedy := "put the guard in front of the whole site, without a matcher: rules name paths, and `public` rules admit the rest"; {
			case byPath.passesGuard():
				out.Warn("guard", remedy,
					"a path matcher of the site %s decides whether a request passes oauth_guard before it reaches the API: one that reads `/admin;x/` or `/%%2561dmin/` as `/admin/` lets anybody in", at)
			case byChoice.passesGuard():
				out.Warn("guard", remedy,
					"a matcher of the site %s that looks at what clients choose, such as header fields, decides whether a request passes oauth_guard before it reaches the API: anybody can choose what needs no token", at)
			}
			if byPath.passesLimit() {
				out.Warn("limit", "put a guard without a matcher in front, if only with `public * /*`: it refuses such paths; or let the limit hold for the whole site",
					"a path matcher of the site %s decides whether a request passes api_limit before it reaches the API: one that reads `/login;x` as `/login` is not limited", at)
			}
		}
	}
	return out
}

// guardedElsewhere looks for sites that pass requests of everybody on to an API that has a guard in front on another site.
func (p configuration) guardedElsewhere() (out adminapi.Findings) {
	guarded := make(map[string]string) // sites by address
	for _, name := range explain.SortedKeys(p.Servers) {
		s := p.Servers[name]
		for _, site := range sitesOf(s.Routes) {
			w := followSite(s, site, matchesPath)
			for _, to := range slices.Concat(w.guarded, w.guardedAlways) {
				guarded[to] = addressOf(s, site)
			}
		}
	}
	for _, name := range explain.SortedKeys(p.Servers) {
		s := p.Servers[name]
		for _, site := range sitesOf(s.Routes) {
			one := explain.Server{Routes: site, NamedRoutes: s.NamedRoutes}
			if listensLocally(s) || one.Has("authentication") || asksElsewhere(one) {
				continue // not for everybody
			}
			w := followSite(s, site, matchesAddress)
			i := slices.IndexFunc(w.open, func(to string) bool {
				return to != "" && guarded[to] != "" && !slices.Contains(slices.Concat(w.openMatched, w.guarded, w.guardedAlways), to)
			})
			if i >= 0 {
				out.Warn("guard", "put a guard in front there, too, or let the site pass on only what is for everybody",
					"the site %s passes requests on to %s without oauth_guard, which is in front of the same API on the site %s", addressOf(s, site), w.open[i], guarded[w.open[i]])
			}
		}
	}
	return out
}

// addressOf names a site for messages.
func addressOf(s explain.Server, site []routes.Route) string {
	hosts, _ := site[0].Hosts()
	return strings.Join(append(hosts, s.Listen...), " ")
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

// way is what is met on the way through a site. Its matchers are those that decides is about; others let every request through.
type way struct {
	decides func(matcherSets) bool
	named   map[string]routes.Route
	invoked int // depth of invocations

	// Addresses of proxies: without a guard, and of these behind a matcher; behind a guard, or a limit, that a matcher restricts; and
	// behind a guard that none restricts.
	open, openMatched, guarded, limited, guardedAlways []string
	guardAlone, limitAlone                             bool // one that is restricted is in a route of its own, for proxies of other routes
}

func followSite(s explain.Server, site []routes.Route, decides func(matcherSets) bool) *way {
	w := &way{decides: decides, named: s.NamedRoutes}
	w.list(site, false, "", false)
	return w
}

func (w *way) passesGuard() bool {
	return len(w.open) > 0 && w.guardAlone || intersect(w.guarded, w.open) || intersect(w.guardedAlways, w.openMatched)
}

func (w *way) passesLimit() bool {
	return len(w.open) > 0 && w.limitAlone || intersect(w.limited, w.open)
}

func intersect(a, b []string) bool {
	return slices.ContainsFunc(a, func(one string) bool { return slices.Contains(b, one) })
}

// list follows routes. matched says that a matcher leads here; behind is what it restricts: guard, limit, or nothing yet; guarded
// says that every request here has passed a guard. It returns the last two for what comes after, and whether a proxy was met.
func (w *way) list(all []routes.Route, matched bool, behind string, guarded bool) (after string, passed, proxied bool) {
	for _, rt := range all {
		inner, through, met := w.chain(rt.Handle, matched || w.decides(rt.Match), behind, guarded)
		proxied = proxied || met
		_, restricted := rt.Hosts()
		switch {
		case !restricted:
			behind, guarded = inner, through
		case !met && w.decides(rt.Match): // it is there for what comes after
			w.guardAlone = w.guardAlone || inner == "gatehouse_guard" && behind == "" && !guarded
			w.limitAlone = w.limitAlone || inner == "gatehouse_limit" && behind == "" && !guarded
		}
	}
	return behind, guarded, proxied
}

// chain follows the handlers of a route.
func (w *way) chain(handle []json.RawMessage, matched bool, behind string, guarded bool) (after string, passed, proxied bool) {
	for _, raw := range handle {
		h, ok := routes.ReadHandler(raw)
		if !ok {
			continue
		}
		met := false
		switch _, ours := h.Providers["gatehouse"]; {
		case h.Handler == "subroute":
			behind, guarded, met = w.list(h.Routes, matched, behind, guarded)
		case h.Handler == "invoke" && w.invoked < routes.MaxInvocations:
			w.invoked++
			behind, guarded, met = w.list([]routes.Route{w.named[h.Name]}, matched, behind, guarded)
			w.invoked--
		case h.Handler == "gatehouse_guard" || ours:
			if matched && !guarded {
				behind = "gatehouse_guard"
			}
			guarded = true
		case h.Handler == "gatehouse_limit" && matched && !guarded && behind == "":
			behind = h.Handler
		case h.Handler == "reverse_proxy" && !onlyAsks(h), h.Handler == "gatehouse_proxy", h.Handler == "gatehouse_rest" && h.Answers():
			met = true
			w.note(matched, behind, guarded, addressesOf(raw))
		}
		proxied = proxied || met
	}
	return behind, guarded, proxied
}

func (w *way) note(matched bool, behind string, guarded bool, to []string) {
	switch {
	case behind == "gatehouse_guard":
		w.guarded = append(w.guarded, to...)
	case guarded:
		w.guardedAlways = append(w.guardedAlways, to...)
	case behind == "gatehouse_limit":
		w.limited = append(w.limited, to...)
	default:
		w.open = append(w.open, to...)
		if matched {
			w.openMatched = append(w.openMatched, to...)
		}
	}
}
