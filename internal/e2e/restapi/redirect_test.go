package restapi

import (
	"net/http"
	"testing"

	"github.com/gatehouse/gatehouse/internal/testkit/harness"
)

// R02: form APIs do several things at one address. A redirect leads to what clients may do there by following it.
func TestRedirectLeadsToNoOtherChange(t *testing.T) {
	u := harness.NewUpstream(t)
	r := start(t, u.Addr, `"upstream": $TO, "resources": [{"path": "things", "routes": [
		{"method": "POST", "path": "/things/{id}/start", "upstream": "/x/{id}/start/"},
		{"method": "POST", "path": "/things/{id}/stop", "upstream": "/x/{id}"},
		{"method": "PUT", "path": "/things/{id}/name", "upstream": "/x/{id}/name"},
		{"method": "DELETE", "path": "/things", "upstream": "/all"},
		{"method": "DELETE", "path": "/things/{id}", "upstream": "/y/{id}"},
		{"method": "GET", "path": "/things", "upstream": "/all"},
		{"method": "GET", "path": "/things/{id}", "upstream": "/y/{id}"}]}]`)
	for _, c := range []struct {
		method, path string
		status       int
		at           string
		want         int
		location     string
	}{
		// There is nothing to read at the address.
		{"POST", "/things/7/stop", 302, "/x/7", 502, ""}, {"POST", "/things/7/stop", 303, "/x/7", 502, ""}, {"POST", "/things/7/stop", 301, "/x/7", 502, ""},
		{"GET", "/things/7", 302, "/x/7", 502, ""}, {"POST", "/things/7/stop", 302, "/login", 502, ""},
		{"POST", "/things/7/stop", 302, "/y/7", 302, "/things/7"}, {"POST", "/things/7/stop", 303, "/all", 303, "/things"},
		// The same request again, but no other change.
		{"POST", "/things/7/start", 308, "/x/7", 502, ""}, {"POST", "/things/7/start", 307, "/x/7", 502, ""}, {"POST", "/things/7/start", 307, "/y/7", 502, ""},
		{"POST", "/things/7/start", 308, "/x/8/start/", 308, "/things/8/start"}, {"PUT", "/things/7/name", 307, "/x/8/name", 307, "/things/8/name"},
		{"GET", "/things/7", 307, "/all", 307, "/things"}, {"HEAD", "/things/7", 308, "/y/8", 308, "/things/8"},
		// Clients repeat a DELETE or PUT after a 301 or 302.
		{"DELETE", "/things/7", 302, "/all", 303, "/things"}, {"DELETE", "/things/7", 301, "/all", 502, ""}, {"PUT", "/things/7/name", 302, "/y/7", 303, "/things/7"},
	} {
		u.Answer(func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Location", c.at)
			w.WriteHeader(c.status)
		})
		body := ""
		if c.method == "POST" || c.method == "PUT" {
			body = `{}`
		}
		p := r.do("writer", c.method, c.path, body)
		if p.Status != c.want || p.Header.Get("Location") != c.location {
			t.Errorf("%s %s, %d to %s: %d %v %s", c.method, c.path, c.status, c.at, p.Status, p.Header, p.Body)
		}
		u.Hits()
	}
}
