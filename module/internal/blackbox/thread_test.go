package blackbox

import (
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"testing"

	"github.com/gatehouse/gatehouse/module/internal/harness"
)

func TestAClientSignsAUserInAndReadsTheAPI(t *testing.T) {
	g, up := start(t)
	before := valid(t, g)
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
		p = g.Token(t, c, url.Values{"grant_type": {"refresh_token"}, "refresh_token": {refresh}})
		if p.Status != http.StatusOK {
			t.Errorf("refresh: %d %s", p.Status, p.Body)
		}
	}
	p := g.Token(t, machine, url.Values{"grant_type": {"client_credentials"}, "scope": {"read"}})
	if p.Status != http.StatusOK {
		t.Fatalf("%d %s", p.Status, p.Body)
	}
	if p := g.Call(t, http.MethodGet, "/read", p.JSON(t)["access_token"].(string)); p.Status != http.StatusOK {
		t.Errorf("%d %s", p.Status, p.Body)
	}
	if p := g.Call(t, http.MethodGet, "/read", ""); p.Status != http.StatusUnauthorized || !strings.Contains(p.Body, `"code":"unauthorized"`) {
		t.Errorf("%d %s", p.Status, p.Body)
	}
	if n := valid(t, g) - before; n != 3 {
		t.Errorf("the metrics count %d valid tokens, want 3", n)
	}
}

// valid is how many tokens guards of this process have let pass.
func valid(t *testing.T, g *harness.Gateway) int {
	t.Helper()
	const line = `caddy_gatehouse_guard_decisions_total{reason="valid"} `
	_, after, found := strings.Cut(g.Scrape(t), line)
	if !found {
		return 0
	}
	number, _, _ := strings.Cut(after, "\n")
	n, err := strconv.Atoi(number)
	if err != nil {
		t.Fatal(err)
	}
	return n
}
