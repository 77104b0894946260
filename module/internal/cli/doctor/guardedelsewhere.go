package doctor

import (
	"encoding/json"
	"slices"
	"strings"

	"github.com/gatehouse/gatehouse/module/internal/adminapi"
	"github.com/gatehouse/gatehouse/module/internal/cli/doctor/sites"
	"github.com/gatehouse/gatehouse/module/internal/cli/explain"
	"github.com/gatehouse/gatehouse/module/internal/routes"
)

// guardedElsewhere looks for sites, or hosts of a site, that pass requests of everybody on to an API that has a guard in front
// elsewhere, and for APIs to which `handle_errors` or `handle_response` pass on what a guard refused or never saw.
func (p configuration) guardedElsewhere() (out adminapi.Findings) {
	guarded := p.guardedAPIs()
	for _, name := range explain.SortedKeys(p.Servers) {
		s := p.Servers[name]
		if listensLocally(s) {
			continue // not for everybody
		}
		for _, site := range sites.Of(s.Routes) {
			told := ""
			for _, w := range followSite(s, site, matchesAddress) {
				at := w.address(s, site)
				i := slices.IndexFunc(w.forAll, func(to string) bool {
					return to != "" && guarded[to] != "" && !slices.Contains(slices.Concat(w.openMatched, w.guarded, w.guardedAlways), to)
				})
				if i >= 0 {
					out.Warn("guard", "put a guard in front there, too, or let the site pass on only what is for everybody",
						"the site %s passes requests on to %s without oauth_guard, which is in front of the same API on the site %s", at, w.forAll[i], guarded[w.forAll[i]])
				}
				for _, list := range w.later {
					if to := passedOn(list, s.NamedRoutes, guarded); to != "" && told == "" {
						told = to
						warnLater(&out, "handle_response", at, to, guarded[to])
					}
				}
			}
			if to := passedOn(sites.ErrorRoutes(s, site), s.NamedRoutes, guarded); to != "" {
				warnLater(&out, "handle_errors", sites.Address(s, site), to, guarded[to])
			}
		}
	}
	return out
}

func warnLater(out *adminapi.Findings, block, at, to, guardedAt string) {
	out.Warn("guard", "put a guard in front there, too, or have a `rewrite` name the page that is asked for, as in `rewrite * /error.html`",
		"`%s` of the site %s passes requests on to %s without oauth_guard, which is in front of the same API on the site %s: what it refuses comes to the API", block, at, to, guardedAt)
}

// guardedAPIs returns where each API has a guard in front, by its address.
func (p configuration) guardedAPIs() map[string]string {
	guarded := make(map[string]string)
	for _, name := range explain.SortedKeys(p.Servers) {
		s := p.Servers[name]
		for _, site := range sites.Of(s.Routes) {
			for _, w := range followSite(s, site, matchesPath) {
				for _, to := range slices.Concat(w.guarded, w.guardedAlways) {
					guarded[to] = w.address(s, site)
				}
			}
		}
	}
	delete(guarded, "")
	return guarded
}

// address names the hosts that a way is for: the whole site, if it tells none apart.
func (w *way) address(s explain.Server, site []routes.Route) string {
	if len(hostsApart(s, site)) == 1 {
		return sites.Address(s, site)
	}
	return strings.Join(slices.Concat(slices.DeleteFunc(slices.Clone(w.hosts), func(h string) bool { return h == "" }), s.Listen), " ")
}

// passedOn returns the first address of a guarded API to which routes for errors or responses pass a request on as it came.
func passedOn(list []routes.Route, named map[string]routes.Route, guarded map[string]string) string {
	d := &detour{named: named, guarded: guarded}
	d.list(list, false)
	return d.to
}

// detour follows routes for errors or responses.
type detour struct {
	named   map[string]routes.Route
	invoked int // depth of invocations
	guarded map[string]string
	to      string // what is looked for
}

// list follows routes. safe says that a guard or another authentication is in front, or a page that no client chooses is asked for; the
// result says so of what comes after.
func (d *detour) list(all []routes.Route, safe bool) bool {
	for _, rt := range all {
		if is := sites.ErrorStatus(rt.Match); !slices.ContainsFunc(unguardedStatus, is) {
			continue
		}
		if inner := d.chain(rt.Handle, safe); len(rt.Match) == 0 {
			safe = inner
		}
	}
	return safe
}

func (d *detour) chain(handle []json.RawMessage, safe bool) bool {
	for _, raw := range handle {
		h, _ := routes.ReadHandler(raw)
		switch {
		case h.Handler == "subroute":
			safe = d.list(h.Routes, safe)
		case h.Handler == "invoke" && d.invoked < routes.MaxInvocations:
			d.invoked++
			safe = d.list([]routes.Route{d.named[h.Name]}, safe)
			d.invoked--
		case h.Handler == "gatehouse_guard", h.Handler == "authentication", h.Handler == "reverse_proxy" && onlyAsks(h), h.Handler == "rewrite" && namesPage(raw):
			safe = true
		case !safe && d.to == "" && (h.Handler == "reverse_proxy" || h.Handler == "gatehouse_proxy" || h.Handler == "gatehouse_rest" && h.Answers()):
			if i := slices.IndexFunc(addressesOf(raw), func(to string) bool { return d.guarded[to] != "" }); i >= 0 {
				d.to = addressesOf(raw)[i]
			}
		}
	}
	return safe
}

// unguardedStatus are errors of requests that a guard refused, or that did not come to it. A proxy behind it has others.
var unguardedStatus = []int{400, 401, 403, 404, 405, 406, 408, 411, 413, 414, 415, 421, 425, 429, 431, 500, 501, 503}

// namesPage reports whether a rewrite names the path that is asked for, and takes no part of it from the request.
func namesPage(raw json.RawMessage) bool {
	var rewrite struct {
		URI string `json:"uri"`
	}
	return json.Unmarshal(raw, &rewrite) == nil && strings.HasPrefix(rewrite.URI, "/") && !strings.Contains(strings.ReplaceAll(rewrite.URI, "{http.error.status_code}", ""), "{")
}
