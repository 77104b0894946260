package doctor

import (
	"fmt"
	"strings"

	"github.com/gatehouse/gatehouse/module/internal/adminapi"
	"github.com/gatehouse/gatehouse/module/internal/authserver/ownpaths"
	"github.com/gatehouse/gatehouse/module/internal/cli/explain"
	"github.com/gatehouse/gatehouse/module/internal/routes"
)

// reachability looks for handlers that are never reached, and for limits by caller that
// stand in front of the guard that would say who calls.
func (p configuration) reachability() (out adminapi.Findings) {
	for _, name := range explain.SortedKeys(p.Servers) {
		s := p.Servers[name]
		found := routes.Follow(s.Routes, s.NamedRoutes, ownpaths.New(p.issuer.Path, p.App.Registration != nil).Has)
		where := fmt.Sprintf("server %s (%s)", name, strings.Join(s.Listen, " "))
		for _, dead := range found.Unreachable {
			out.Warn("reach", "remove it, put it in front, or give what answers first a matcher; inside `route` directives run in the order in which they are written",
				"%s: no request reaches %s", where, dead)
		}
		for _, name := range found.Unserved {
			empty := "Caddy gives an empty 200"
			if name == "api_rest" {
				empty = "every request is 502"
			}
			out.Warn("reach", "write `reverse_proxy` or `api_proxy` with the address of the API, or `to` in api_rest; `respond 204` where a proxy asks this guard only whether a request may pass",
				"%s: no handler behind %s answers: %s", where, name, empty)
		}
		for _, l := range found.Unguarded {
			at := where
			if l.Source != "" {
				at += ", " + l.Source
			}
			out.Fail("limit", "put oauth_guard in front of api_limit, as the order of directives outside `route` and `handle` does, or limit by `ip`",
				"%s: the policy %s of an api_limit counts nobody, because no oauth_guard stands in front of it", at, l.Policy)
		}
	}
	if len(out) == 0 {
		out.OK("reach", "every handler can be reached, and limits by caller stand behind a guard")
	}
	return out
}
