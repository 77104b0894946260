package doctor

import (
	"slices"
	"strings"

	"github.com/gatehouse/gatehouse/module/internal/adminapi"
)

// cors looks for guards whose refusals the scripts of a browser cannot read, where there are
// clients that run in one.
func (p configuration) cors() (out adminapi.Findings) {
	const check = "cors"
	origins := p.browserOrigins()
	if len(origins) == 0 {
		return nil
	}
	n := 0
	for g := range p.guards() {
		if g.Shadow {
			continue
		}
		n++
		if len(g.CORS) > 0 {
			continue
		}
		has := "has no `cors <origins>`"
		if g.CORSUpstream {
			has = "leaves CORS to the upstream"
		}
		out.Warn(check, "write `cors "+strings.Join(origins, " ")+"` in the guard, or those of them that call it; ignore this where no browser does",
			"%s %s: a browser cannot read its 401 and 403, scripts see a network error and never refresh", g.where, has)
	}
	if n > 0 && len(out) == 0 {
		out.OK(check, "browsers can read the refusals of %s", adminapi.Count(n, "guard"))
	}
	return out
}

// browserOrigins are those of the public clients of the configuration.
func (p configuration) browserOrigins() []string {
	var all []string
	for _, c := range p.App.Clients {
		if c.Public && !c.Native {
			all = append(all, c.CORSOrigins()...)
		}
	}
	slices.Sort(all)
	return slices.Compact(all)
}
