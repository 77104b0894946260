package doctor

import (
	"bytes"
	"encoding/json"
	"strings"

	"github.com/gatehouse/gatehouse/module/internal/adminapi"
	"github.com/gatehouse/gatehouse/module/internal/cli/explain"
	"github.com/gatehouse/gatehouse/module/internal/routes"
)

const scopeMatcher = "oauth_scope"

// caches looks for sites whose responses depend on a token without a Vary that says so. A guard adds it by itself.
func (p configuration) caches() (out adminapi.Findings) {
	for _, name := range explain.SortedKeys(p.Servers) {
		s := p.Servers[name]
		for _, rt := range s.Routes {
			text, err := json.Marshal(rt)
			one := explain.Server{Routes: []routes.Route{rt}, NamedRoutes: s.NamedRoutes}
			if err != nil || !bytes.Contains(text, []byte(`"`+scopeMatcher+`":`)) || one.Has("gatehouse_guard") || variesByToken(one) {
				continue
			}
			hosts, _ := rt.Hosts()
			out.Warn("caches", "add `Vary: Authorization` with `header`, as in caddyfile/README.md; ignore this where no cache may store the responses",
				"the site %s chooses by oauth_scope, and its responses do not say that they depend on the token: a shared cache gives them to everybody", strings.Join(append(hosts, s.Listen...), " "))
		}
	}
	return out
}

// variesByToken reports whether a site sets such a Vary.
func variesByToken(site explain.Server) bool {
	for raw := range site.All("headers") {
		if bytes.Contains(raw, []byte(`"Vary"`)) && bytes.Contains(raw, []byte("Authorization")) {
			return true
		}
	}
	return false
}
