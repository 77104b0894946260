package doctor

import (
	"bytes"
	"encoding/json"
	"strings"

	"github.com/gatehouse/gatehouse/module/internal/adminapi"
	"github.com/gatehouse/gatehouse/module/internal/cli/explain"
	"github.com/gatehouse/gatehouse/module/internal/routes"
)

const (
	scopeMatcher   = "oauth_scope"
	authentication = "oauth_authentication"
)

// caches looks for sites whose responses depend on a token without a Vary that says so. A guard adds it by itself.
func (p configuration) caches() (out adminapi.Findings) {
	for _, name := range explain.SortedKeys(p.Servers) {
		s := p.Servers[name]
		for _, rt := range s.Routes {
			one := explain.Server{Routes: []routes.Route{rt}}
			if one.Has("invoke") {
				one.NamedRoutes = s.NamedRoutes
			}
			word := dependsOnToken(one)
			if word == "" || one.Has("gatehouse_guard") || variesByToken(one) {
				continue
			}
			hosts, _ := rt.Hosts()
			out.Warn("caches", "add `Vary: Authorization` with `header`, as in caddyfile/README.md; ignore this where no cache may store the responses",
				"the responses of the site %s depend on the token by %s, and do not say so: a shared cache gives them to everybody", strings.Join(append(hosts, s.Listen...), " "), word)
		}
	}
	return out
}

// dependsOnToken returns the word by which a site without a guard depends on tokens, "" if it does not.
func dependsOnToken(site explain.Server) string {
	for raw := range site.All("authentication") {
		var h struct {
			Providers map[string]json.RawMessage `json:"providers"`
		}
		if json.Unmarshal(raw, &h) == nil && h.Providers["gatehouse"] != nil {
			return authentication
		}
	}
	text, err := json.Marshal([]any{site.Routes, site.NamedRoutes})
	if err == nil && bytes.Contains(text, []byte(`"`+scopeMatcher+`":`)) {
		return scopeMatcher
	}
	return ""
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
