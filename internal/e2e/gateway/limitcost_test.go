package gateway

import (
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"testing"

	"github.com/gatehouse/gatehouse/internal/testkit/harness"
)

// Without a guard in front, which would refuse or mend them, paths come as they were
// written, and upstreams read many spellings as one.
func TestPathSpellingsCannotReduceTheCost(t *testing.T) {
	port := harness.FreePorts(t, 1)[0]
	second := fmt.Sprintf(`http://localhost:%d {
	api_errors
	api_limit {
		all 1000 1h
		cost 10 GET /export / /list
		limiter costs
	}
	reverse_proxy $UPSTREAM
}
`, port)
	startSite(t, site+second)
	bare := fmt.Sprintf("http://localhost:%d", port)
	left := 1000
	for _, c := range []struct {
		line string
		cost int
	}{
		{"GET /export", 10}, {"GET /export?x=1", 10}, {"GET //export", 10}, {"GET /./export", 10}, {"GET /x/../export", 10}, {"GET /%65xport", 10},
		{"GET /EXPORT", 10}, {"GET /export/.", 10}, {"GET /x/%2e%2e/export", 10}, {"GET /export#x", 10}, // it goes on as /export%23x
		{"GET /export%3F", 10}, {"GET /export%3Fx=1", 10}, {"GET /export%23", 10}, {"GET /export%253F", 10}, {"GET /x%3F/../export", 10}, {"GET /x%3F/export", 1},
		{"GET http://localhost:" + strconv.Itoa(port), 10}, {"GET http://localhost:" + strconv.Itoa(port) + "/export", 10}, {"GET /", 10}, {"GET /x/..", 10},
		{"GET /export;x=1", 10}, {"GET /;/export", 10}, {"GET /x/..;/export", 10}, {"GET /%5Cexport", 10}, {"GET /x%5C..%5Cexport", 10},
		{"GET /%2565xport", 10}, {"GET /export%00", 10}, {"GET /export%20", 10}, {"GET /export.", 10}, {"get /export", 10},
		{"HEAD /export", 10}, {"head /EXPORT", 10}, {"HEAD /exports", 1}, // APIs do for a HEAD what they do for a GET
		{"GET /exports", 1}, {"POST /export", 1}, {"GET /l%C4%B0st", 10}, {"GET /L%c4%b1ST", 10}, {"GET /lst", 1},
	} {
		p := harness.Wire(t, bare, c.line)
		left -= c.cost
		if got := p.Header.Get("X-Ratelimit-Remaining"); got != strconv.Itoa(left) {
			t.Errorf("%s: %d, %s are left, want %d", c.line, p.Status, got, left)
			if n, err := strconv.Atoi(got); err == nil {
				left = n
			}
		}
	}
}

// Nor can a method that frameworks read in a header field or in the query, which a guard in front would remove or refuse.
func TestMethodOverridesCannotReduceTheCost(t *testing.T) {
	port := harness.FreePorts(t, 1)[0]
	startSite(t, site+fmt.Sprintf(`http://localhost:%d {
	api_limit {
		all 1000 1h
		cost 10 DELETE /export
		cost 3 POST /export
		cost 20 PUT /other
		cost 1 GET /reports
		cost 50 /reports
		cost 2 DELETE,GET,POST,PUT /named
		cost 40 /named
	}
	reverse_proxy $UPSTREAM
}
`, port))
	left := 1000
	for _, c := range []struct {
		line, field string
		cost        int
	}{
		{"POST /export", "X-A: b", 3}, {"GET /export", "X-A: b", 1}, {"DELETE /export", "X-A: b", 10},
		{"POST /export", "X-HTTP-Method-Override: DELETE", 10}, {"POST /export", "x-http-method: delete", 10}, {"POST /export", "X-Method-Override: PATCH", 10},
		{"GET /export?_method=DELETE", "X-A: b", 10}, {"POST /export?a=1&%5Fmethod=DELETE", "X-A: b", 10}, {"POST /export?payment_method=x", "X-A: b", 3},
		{"GET /export%3F_method=DELETE", "X-A: b", 10},
		{"GET /export?X-HTTP-Method-Override=DELETE", "X-A: b", 10}, // as ServiceStack reads it
		{"GET /reports", "X-A: b", 1}, {"GET /reports?_method=DELETE", "X-A: b", 50}, {"GET /reports", "X-Method-Override: PATCH", 50},
		{"GET /named", "X-A: b", 2}, {"GET /named?_method=PATCH", "X-A: b", 40}, // as a method that no cost names
		{"POST /cheap?_method=PUT", "X-HTTP-Method-Override: DELETE", 1},
	} {
		p := harness.Wire(t, fmt.Sprintf("http://localhost:%d", port), c.line, c.field)
		left -= c.cost
		if got := p.Header.Get("X-Ratelimit-Remaining"); got != strconv.Itoa(left) {
			t.Fatalf("%s, %s: %d, %s are left, want %d", c.line, c.field, p.Status, got, left)
		}
	}
}

// If an API changed to HTTP/2 on a connection of the gateway, further requests there would pass every limit.
func TestConnectionBehindALimitStaysHTTP1(t *testing.T) {
	port := harness.FreePorts(t, 1)[0]
	_, up := startSite(t, site+fmt.Sprintf("http://localhost:%d {\n\tapi_limit {\n\t\tip 100 1h\n\t}\n\treverse_proxy $UPSTREAM\n}\n", port))
	for upgrade, passes := range map[string]bool{"h2c": false, "websocket, h2c": false, "TLS/1.2": false, "websocket": true} {
		harness.Wire(t, fmt.Sprintf("http://localhost:%d", port), "GET /x", "Connection: Upgrade, HTTP2-Settings", "Upgrade: "+upgrade, "HTTP2-Settings: AAMAAABkAARAAAAA")
		for _, hit := range wantHits(t, up, 1) {
			if got := hit.Header.Get("Upgrade"); (got != "") != passes || hit.Header.Get("HTTP2-Settings") != "" {
				t.Errorf("%s: %v", upgrade, hit.Header)
			}
		}
	}
}

// A refusal does not send the client to a Retry-After that is not there.
func TestRequestCostingMoreThanItsLimitIsToldSo(t *testing.T) {
	g, up := startSite(t, strings.Replace(site, "http://$API {", "http://$API {\n\tapi_limit {\n\t\tip 3 1h\n\t\tcost 4 /public/all\n\t\tcost 2 /public\n\t}\n", 1))
	for _, c := range []struct{ path, message, retry string }{
		{"/public/all", "this request costs more than the limit permits at any time", ""},
		{"/public", "", ""},
		{"/public", "too many requests: Retry-After says when this one fits", "x"},
	} {
		p := g.Call(t, http.MethodGet, c.path, "")
		retry := p.Header.Get("Retry-After")
		if (p.Status == http.StatusTooManyRequests) != (c.message != "") || !strings.Contains(p.Body, c.message) || (retry != "") != (c.retry != "") {
			t.Errorf("%s: %d %v %s", c.path, p.Status, p.Header, p.Body)
		}
	}
	up.Hits()
}
