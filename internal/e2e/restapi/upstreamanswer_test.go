package restapi

import (
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/gatehouse/gatehouse/internal/testkit/harness"
)

// posing answers what an upstream could pose as the gateway with.
func posing(w http.ResponseWriter, status int, body string) {
	h := w.Header()
	h["Set-Cookie"] = []string{"gatehouse=x; Path=/", "own=1", "__Host-gatehouse-browser=x; Secure; Path=/", "=gatehouse=x"}
	h["Www-Authenticate"] = []string{`Basic realm="gatehouse"`, `Basic realm="own"`}
	h["Clear-Site-Data"] = []string{`"*"`}
	h.Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_, _ = io.WriteString(w, body)
}

func TestUpstreamCannotSetGatewayHeadersThroughAPIREST(t *testing.T) { // N05
	u := harness.NewUpstream(t)
	// No guard stands in front: api_rest does it alone.
	i, j := strings.Index(site, "\toauth_guard {"), strings.Index(site, "\trespond API_REST")
	r := &rig{harness.Prepare(t), t, make(map[string]string)}
	r.StartChanged(t, site[:i]+site[j:], r.with(u.Addr, `"header_down": ["Set-Cookie"], `+listed))
	for name, c := range map[string]struct {
		status int
		body   string
		path   string
	}{
		"translated":   {200, `{"r":{"id":1}}`, "/things/1"},
		"unreadable":   {200, `{"r":`, "/things/1"},
		"an error":     {404, `{}`, "/things/1"},
		"unauthorized": {401, `{}`, "/things/1"},
	} {
		t.Run(name, func(t *testing.T) {
			u.Answer(func(w http.ResponseWriter, _ *http.Request) { posing(w, c.status, c.body) })
			p := harness.Wire(t, r.API, "GET "+c.path)
			for _, line := range p.Header["Set-Cookie"] {
				if line != "own=1" {
					t.Errorf("%d: Set-Cookie: %s", p.Status, line)
				}
			}
			if got := p.Header["Www-Authenticate"]; slices.Contains(got, `Basic realm="gatehouse"`) || len(p.Header["Clear-Site-Data"]) > 0 {
				t.Errorf("%d: %v", p.Status, p.Header)
			}
			if p.Status == http.StatusOK && len(p.Header["Set-Cookie"]) != 1 {
				t.Errorf("its own cookie is gone: %v", p.Header)
			}
		})
	}
}

// N05: cookies know no ports, so browsers send the gateway's to an API on the issuer's host,
// which could use the session that is in them.
func TestGatewayCookiesAreNotForwarded(t *testing.T) {
	u := harness.NewUpstream(t)
	guard := site[strings.Index(site, "\toauth_guard {"):strings.Index(site, "\trespond API_REST")]
	r := startIn(t, guard, "", u.Addr, `"upstream": $TO, "undeclared": "pass", "resources": [{"path": "open", "header_up": ["Cookie"]}]`)
	for _, path := range []string{"/open", "/undeclared"} {
		r.do("", "GET", path, "", "Cookie", "gatehouse=session; own=1; __Host-gatehouse-browser=x")
		if hits := u.Hits(); len(hits) != 1 || hits[0].Header.Get("Cookie") != "own=1" {
			t.Errorf("N05 %s: the API saw %v", path, hits)
		}
	}
}
