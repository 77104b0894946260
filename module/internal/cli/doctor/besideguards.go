package doctor

import (
	"encoding/json"
	"slices"

	"github.com/gatehouse/gatehouse/module/internal/adminapi"
	"github.com/gatehouse/gatehouse/module/internal/cli/doctor/sites"
	"github.com/gatehouse/gatehouse/module/internal/cli/explain"
	"github.com/gatehouse/gatehouse/module/internal/routes"
)

// besideGuards looks for matchers of Caddy that decide whether a request passes a guard or a limit before it reaches an API. To a
// matcher of paths `/admin;x/` is not `/admin/`, but to Tomcat it is, so the request passes beside the guard.
func (p configuration) besideGuards() (out adminapi.Findings) {
	for _, name := range explain.SortedKeys(p.Servers) {
		s := p.Servers[name]
		for _, site := range sites.Of(s.Routes) {
			at := sites.Address(s, site)
			byPath, byChoice := followSite(s, site, matchesPath), followSite(s, site, choicesOf(s))
			switch remedy := "put the guard in front of the whole site, without a matcher: rules name paths, and `public` rules admit the rest"; {
			case slices.ContainsFunc(byPath, (*way).passesGuard):
				out.Warn("guard", remedy,
					"a path matcher of the site %s decides whether a request passes oauth_guard before it reaches the API: one that reads `/admin;x/` or `/%%2561dmin/` as `/admin/` lets anybody in", at)
			case slices.ContainsFunc(byChoice, (*way).passesGuard):
				out.Warn("guard", remedy,
					"a matcher of the site %s that looks at what clients choose, such as header fields or the protocol, decides whether a request passes oauth_guard before it reaches the API: anybody can choose what needs no token", at)
			}
			if slices.ContainsFunc(byPath, (*way).passesLimit) {
				out.Warn("limit", "put a guard without a matcher in front, if only with `public * /*`: it refuses such paths; or let the limit hold for the whole site",
					"a path matcher of the site %s decides whether a request passes api_limit before it reaches the API: one that reads `/login;x` as `/login` is not limited", at)
			}
		}
	}
	return out
}

// way is what is met on the way through a site. Its matchers are those that decides is about; others let every request through.
type way struct {
	decides func(matcherSets) bool
	hosts   []string // that it is the way for
	named   map[string]routes.Route
	invoked int  // depth of invocations
	asked   bool // who calls, by something that is no guard

	// Addresses of proxies: without a guard, and of these behind a matcher; behind a guard, or a limit, that a matcher restricts; and
	// behind a guard that none restricts.
	open, openMatched, guarded, limited, guardedAlways []string
	guardAlone, limitAlone                             bool // one that is restricted is in a route of its own, for proxies of other routes

	forAll []string         // addresses of proxies that nothing restricts and nobody asks at
	later  [][]routes.Route // for responses of what is in front of a guard
}

// followSite follows the ways of hosts that the site tells apart.
func followSite(s explain.Server, site []routes.Route, decides func(matcherSets) bool) (all []*way) {
	for _, hosts := range hostsApart(s, site) {
		w := &way{decides: decides, hosts: hosts, named: s.NamedRoutes}
		w.list(site, false, "", false)
		all = append(all, w)
	}
	return all
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
	taken := make(map[string]bool) // groups of which a route is run for every request
	for _, rt := range all {
		match, excluded := forHost(rt.Match, w.hosts[0])
		if excluded || taken[rt.Group] {
			continue
		}
		taken[rt.Group] = rt.Group != "" && len(match) == 0
		asked := w.asked
		inner, through, met := w.chain(rt.Handle, matched || w.decides(match), behind, guarded)
		proxied = proxied || met
		if len(match) > 0 {
			w.asked = asked
		}
		switch {
		case len(match) == 0:
			behind, guarded = inner, through
		case !met && w.decides(match): // it is there for what comes after
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
		met, asked := false, w.asked
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
		case h.Handler == "authentication":
			w.asked = true
		case h.Handler == "reverse_proxy" && onlyAsks(h):
			w.asked = w.asked || slices.ContainsFunc(sites.ResponsesOf(h), sites.ResponseRoutes.OnlyIfAllowed)
		case h.Handler == "reverse_proxy", h.Handler == "gatehouse_proxy", h.Handler == "gatehouse_rest" && h.Answers():
			met = true
			w.note(matched, behind, guarded, addressesOf(raw))
		}
		if !guarded && !asked && !matched {
			w.noteLater(h)
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
		} else if !w.asked {
			w.forAll = append(w.forAll, to...)
		}
	}
}

// noteLater notes the routes for responses that a handler has, unless the response allowed the request.
func (w *way) noteLater(h routes.Handler) {
	for _, one := range sites.ResponsesOf(h) {
		if !one.OnlyIfAllowed() {
			w.later = append(w.later, one.Routes)
		}
	}
}
