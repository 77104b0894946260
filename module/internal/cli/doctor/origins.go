package doctor

import (
	"net/url"
	"slices"
	"strings"

	"github.com/gatehouse/gatehouse/module/internal/adminapi"
	"github.com/gatehouse/gatehouse/module/internal/cli/explain"
)

// origins names the origins of public clients whose scripts no guard lets in: such a client
// gets tokens and then cannot call the API.
func (p configuration) origins() (out adminapi.Findings) {
	const check = "cors"
	allowed, all := p.allowedOrigins()
	if all || len(allowed) == 0 { // guards without `cors` are named by the check of that
		return nil
	}
	public := 0
	for _, c := range p.App.Clients {
		if !c.Public || c.Native || c.VariantB {
			continue
		}
		public++
		for _, origin := range c.CORSOrigins() {
			if !slices.Contains(allowed, origin) && !p.serves(origin) {
				out.Warn(check, "write `cors "+origin+"` in the oauth_guard that its scripts call; if they call none, this is as it should be",
					"no guard has %s in `cors`, the origin of the public client %s: browsers keep the API's answers from it", origin, c.ID)
			}
		}
	}
	if public > 0 && len(out) == 0 {
		out.OK(check, "guards let the scripts of %s in", adminapi.Count(public, "public client"))
	}
	return out
}

// allowedOrigins are those of all guards; all is true where a guard lets every origin in,
// leaves that to the API, or refuses nothing, and where there is none.
func (p configuration) allowedOrigins() (allowed []string, all bool) {
	none := true
	for g := range p.guards() {
		none = false
		all = all || g.CORSUpstream || g.Shadow || slices.Contains(g.CORS, "*")
		allowed = append(allowed, g.CORS...)
	}
	return allowed, all || none
}

// serves reports whether a site with a guard has the host of an origin: scripts of the same
// origin need no permission.
func (p configuration) serves(origin string) bool {
	u, err := url.Parse(origin)
	if err != nil {
		return false
	}
	for _, s := range p.Servers {
		if !s.Has("gatehouse_guard") || !s.ListensFor(explain.Question{Scheme: u.Scheme, Host: u.Host}) {
			continue
		}
		if slices.ContainsFunc(s.Hosts(explain.Question{}), func(h string) bool { return h == "" || strings.EqualFold(h, u.Hostname()) }) {
			return true
		}
	}
	return false
}
