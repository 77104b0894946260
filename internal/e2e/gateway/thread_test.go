package gateway

import (
	"net/http"
	"strings"
	"testing"

	"github.com/gatehouse/gatehouse/internal/testkit/harness"
)

func TestClientSignsInAndReadsTheAPI(t *testing.T) {
	g, up := start(t)
	const passed = `caddy_gatehouse_guard_decisions_total{reason="valid"}`
	before := g.Metric(t, passed)
	for _, c := range []harness.Credentials{web, spa} {
		access, refresh := tokens(t, g, c)
		p := g.Call(t, http.MethodGet, "/read/1", access)
		if p.Status != http.StatusOK {
			t.Fatalf("%s: %d %s", c.ID, p.Status, p.Body)
		}
		for _, name := range []string{"X-Ratelimit-Limit", "X-Ratelimit-Remaining", "X-Ratelimit-Reset"} {
			if len(p.Header.Values(name)) != 1 {
				t.Errorf("%s: %v", name, p.Header)
			}
		}
		hits := up.Hits()
		if len(hits) != 1 || hits[0].Header.Get("X-Auth-Subject") != "u-1" || hits[0].Header.Get("X-Auth-Client") != c.ID ||
			hits[0].Header.Get("X-Auth-Scopes") != "read" || hits[0].Header.Get("Authorization") != "" {
			t.Errorf("the upstream saw %v", hits)
		}
		p = g.Token(t, c, refreshWith(refresh))
		if p.Status != http.StatusOK {
			t.Errorf("refresh: %d %s", p.Status, p.Body)
		}
	}
	p := g.Token(t, machine, credentialsForm)
	if p.Status != http.StatusOK {
		t.Fatalf("%d %s", p.Status, p.Body)
	}
	if p := g.Call(t, http.MethodGet, "/read", p.JSON(t)["access_token"].(string)); p.Status != http.StatusOK {
		t.Errorf("%d %s", p.Status, p.Body)
	}
	if p := g.Call(t, http.MethodGet, "/read", ""); p.Status != http.StatusUnauthorized || !strings.Contains(p.Body, `"code":"unauthorized"`) {
		t.Errorf("%d %s", p.Status, p.Body)
	}
	if n := g.Metric(t, passed) - before; n != 3 {
		t.Errorf("the metrics count %v valid tokens, want 3", n)
	}
}
