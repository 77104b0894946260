package restapi

import (
	"net/http"
	"testing"

	"github.com/gatehouse/gatehouse/internal/testkit/harness"
)

func TestVendorMediaTypeIsNotSentUpstream(t *testing.T) {
	u := harness.NewUpstream(t)
	r := start(t, u.Addr, `"vendor": "acme", "versions": [{"name": "v1"}], "upstream": $TO, "resources": [
		{"path": "things", "batch": ["a"], "etag": true, "routes": [
			{"method": "GET", "path": "/things/{id}", "upstream": "/t/{id}"}, {"method": "PATCH", "path": "/things/{id}", "upstream": "/t/{id}"}]}]`)
	u.Answer(says("application/json", `{"id":1}`))
	for _, c := range []struct {
		method, path, body string
		requests           int
	}{
		{http.MethodGet, "/v1/things/1", "", 1},
		{http.MethodPatch, "/v1/things/1", `{"a":1}`, 2}, // read for the condition, and changed
		{http.MethodPatch, "/v1/things", `[{"id":1,"op":"replace","path":"/a","value":1},{"id":2,"op":"remove","path":"/a"}]`, 2},
	} {
		header := []string{"Accept", "application/vnd.acme.v1+json"}
		if c.requests == 2 && c.body[0] == '{' {
			header = append(header, "If-Match", "*")
		}
		p := r.do("writer", c.method, c.path, c.body, header...)
		hits := u.Hits()
		if p.Status != 200 || p.Header.Get("Content-Type") != "application/vnd.acme.v1+json" || len(hits) != c.requests {
			t.Errorf("%s %s: %d %v %s, %d requests", c.method, c.path, p.Status, p.Header, p.Body, len(hits))
		}
		for _, hit := range hits {
			if hit.Header.Get("Accept") != "application/json" {
				t.Errorf("%s %s: the upstream is asked for %q", c.method, c.path, hit.Header.Values("Accept"))
			}
		}
	}
}
