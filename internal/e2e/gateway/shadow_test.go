package gateway

import (
	"net/http"
	"testing"

	"github.com/gatehouse/gatehouse/internal/testkit/harness"
)

func TestShadowGuardRefusesNothingAndCounts(t *testing.T) {
	g, up := start(t, "$GUARD", "shadow")
	access, _ := tokens(t, g, web, "scope", "read")
	for name, c := range map[string]struct {
		method, path, authorization string
		upstream                    string // the Authorization that arrives
		client                      string // the X-Auth-Client that arrives
		metric                      string
	}{
		"a valid token":            {"GET", "/read", "Bearer " + access, "", "web", `caddy_gatehouse_guard_decisions_total{reason="valid"}`},
		"no token":                 {"GET", "/read", "", "", "", `caddy_gatehouse_guard_shadow_refusals_total{reason="no_credentials"}`},
		"the API's own token":      {"GET", "/read", "Bearer opaque", "Bearer opaque", "", `caddy_gatehouse_guard_shadow_refusals_total{reason="invalid_token"}`},
		"too few scopes":           {"GET", "/admin", "Bearer " + access, "Bearer " + access, "", `caddy_gatehouse_guard_shadow_refusals_total{reason="insufficient_scope"}`},
		"no rule":                  {"GET", "/else", "Basic eDp5", "Basic eDp5", "", `caddy_gatehouse_guard_shadow_refusals_total{reason="no_rule"}`},
		"a path it would not take": {"GET", "/a//b", "", "", "", `caddy_gatehouse_guard_shadow_refusals_total{reason="bad_request"}`},
		"a public path":            {"GET", "/public", "", "", "", `caddy_gatehouse_guard_decisions_total{reason="public"}`},
		"a token in the query":     {"GET", "/read?access_token=x", "", "", "", `caddy_gatehouse_guard_shadow_refusals_total{reason="bad_request"}`},
	} {
		t.Run(name, func(t *testing.T) {
			before := g.Metric(t, c.metric)
			p := send(t, harness.NewBrowser(t, ""), c.method, g.API+c.path, "",
				"Authorization", c.authorization, "X-Auth-Client", "forged", "x_auth_subject", "forged")
			hits := up.Hits()
			if p.Status != http.StatusOK || len(hits) != 1 {
				t.Fatalf("%d, %d requests arrived", p.Status, len(hits))
			}
			h := hits[0].Header
			if h.Get("Authorization") != c.upstream || h.Get("X-Auth-Client") != c.client || h.Get("X_auth_subject") != "" {
				t.Errorf("arrived: %v", h)
			}
			if hits[0].RequestURI != c.path {
				t.Errorf("arrived at %s", hits[0].RequestURI)
			}
			if n := g.Metric(t, c.metric); n != before+1 {
				t.Errorf("%s went from %v to %v", c.metric, before, n)
			}
		})
	}
}
