package restapi

import (
	"net/http"
	"strings"
	"testing"

	"github.com/gatehouse/gatehouse/internal/testkit/harness"
)

// S06: where a vendor is declared, whoever accepts other types alone is told.
func TestNotAcceptableNeedsAVendor(t *testing.T) {
	u := harness.NewUpstream(t)
	u.Answer(says("application/json", `{"id":1}`))
	const resources = `"versions": [{"name": "v1"}], "upstream": $TO, "undeclared": "pass", "openapi": {}, "resources": [{"path": "things"}]`
	r := start(t, u.Addr, `"vendor": "acme", `+resources)
	for _, c := range []struct {
		path, accept string
		status       int
	}{
		{"/things/1", "application/vnd.other.v1+json", 406}, {"/v1/things/1", "application/vnd.other.v1+json, application/vnd.acme2.v1+json", 406}, {"/things/1", "application/xml", 406},
		{"/v1/things/1", "text/html, image/*;q=0.5", 406}, {"/things/1", "application/json;q=0", 406}, {"/things", "*/*;q=0, text/csv", 406},
		{"/things/1", "application/vnd.other.v1+json, */*;q=0.1", 200}, {"/things/1", "application/json", 200}, {"/things/1", "application/*", 200}, {"/things/1", "", 200},
		{"/v1/things/1", "application/vnd.acme.v1+json", 200}, {"/things/1", "text/html, application/xhtml+xml, */*;q=0.8", 200},
		{"/other", "text/html", 200}, {"/openapi", "text/html", 200}, // not the API's own, and a page
	} {
		p := r.do("reader", http.MethodGet, c.path, "", "Accept", c.accept)
		if p.Status != c.status {
			t.Errorf("S06 %s with %q: %d %s, want %d", c.path, c.accept, p.Status, p.Body, c.status)
		}
		if c.status == 406 {
			wantError(t, p, 406, "not_acceptable", "")
		}
	}
	r = start(t, u.Addr, resources)
	if p := r.do("reader", http.MethodGet, "/things/1", "", "Accept", "application/xml"); p.Status != 200 {
		t.Errorf("S06 without a vendor: %d %s", p.Status, p.Body)
	}
}

const repeated = `
	api_limit {
		client 10 1h
		cost 4 POST /things
		versions v1 v2
	}
	api_rest {
		vendor acme
		to $LEGACY
		version v1
		version v2
		resource things
	}
`

// S06: rules of guard and limit hold in each version that they name.
func TestRulesApplyInEachVersion(t *testing.T) {
	u := harness.NewUpstream(t)
	u.Answer(says("application/json", `{"id":1}`))
	g := harness.Prepare(t, "$LEGACY", u.Addr)
	g.Start(t, replaced(t, site, "\trespond API_REST\n", repeated, "\t\tscope read GET,HEAD,OPTIONS /*\n\t\tscope write POST,PUT,PATCH,DELETE /*\n",
		"\t\tversions v1 v2\n\t\tpublic GET /things/open\n\t\tscope read GET,HEAD /things /things/*\n\t\tscope write POST,PATCH /things /things/*\n"))
	r := &rig{g, t, make(map[string]string)}
	for _, c := range []struct {
		client, method, path string
		header               []string
		status               int
	}{
		{"", "GET", "/v1/things/open", nil, 200}, {"", "GET", "/v1/things/1", nil, 401}, {"reader", "GET", "/v2/things/1", nil, 200}, {"reader", "POST", "/v2/things", nil, 403},
		{"reader", "PATCH", "/things/1", []string{"Accept", "application/vnd.acme.v2+json"}, 403}, {"reader", "GET", "/v3/things/1", nil, 403}, {"reader", "DELETE", "/v1/things/1", nil, 403},
		{"writer", "POST", "/v1/things", nil, 201}, {"writer", "POST", "/things", []string{"Accept", "application/vnd.acme.v2+json"}, 201}, {"writer", "POST", "/v2/things", nil, 429},
	} {
		body := ""
		if c.method != "GET" {
			body = "{}"
		}
		if p := r.do(c.client, c.method, c.path, body, c.header...); p.Status != c.status {
			t.Errorf("S06 %s %s %s %v: %d %s, want %d", c.client, c.method, c.path, c.header, p.Status, p.Body, c.status)
		}
	}
}

// replaced puts one text in place of another, several times; each must be there.
func replaced(t *testing.T, text string, pairs ...string) string {
	t.Helper()
	for i := 0; i+1 < len(pairs); i += 2 {
		if !strings.Contains(text, pairs[i]) {
			t.Fatalf("%q is not there", pairs[i])
		}
		text = strings.Replace(text, pairs[i], pairs[i+1], 1)
	}
	return text
}
