package doctor

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/gatehouse/gatehouse/module/gateway/oauthguard"
	"github.com/gatehouse/gatehouse/module/internal/adminapi"
	"github.com/gatehouse/gatehouse/module/internal/cli/explain"
	"github.com/gatehouse/gatehouse/module/oauth"
)

// cors looks for guards whose refusals the scripts of a browser cannot read, where there are
// clients that run in one.
func (p configuration) cors() []adminapi.Finding {
	const check = "cors"
	origins := p.browserOrigins()
	if len(origins) == 0 {
		return nil
	}
	var out []adminapi.Finding
	n := 0
	for _, name := range explain.SortedKeys(p.Servers) {
		for raw := range p.Servers[name].All("oauth_guard") {
			var g oauthguard.Guard
			if json.Unmarshal(raw, &g) != nil || g.Shadow {
				continue
			}
			n++
			if len(g.CORS) > 0 {
				continue
			}
			where := fmt.Sprintf("a guard of server %s (%s)", name, strings.Join(p.Servers[name].Listen, " "))
			has := "has no `cors <origins>`"
			if g.CORSUpstream {
				has = "leaves CORS to the upstream"
			}
			out = append(out, adminapi.Warned(check, "write `cors "+strings.Join(origins, " ")+"` in the guard, or those of them that call it; ignore this where no browser does",
				"%s %s: a browser cannot read its 401 and 403, scripts see a network error and never refresh", where, has))
		}
	}
	if n > 0 && len(out) == 0 {
		out = append(out, adminapi.Fine(check, "browsers can read the refusals of %s", adminapi.Count(n, "guard")))
	}
	return out
}

// browserOrigins are those of the public clients of the configuration.
func (p configuration) browserOrigins() []string {
	var all []string
	for _, c := range p.App.Clients {
		if c.Public && !c.Native {
			all = append(all, (&oauth.Client{Public: true, RedirectURIs: c.RedirectURIs, Origins: c.Origins}).CORSOrigins()...)
		}
	}
	slices.Sort(all)
	return slices.Compact(all)
}
