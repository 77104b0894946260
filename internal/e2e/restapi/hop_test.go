package restapi

import (
	"net/http"
	"strings"
	"testing"

	"github.com/gatehouse/gatehouse/internal/testkit/harness"
)

// A proxy takes away what Connection names. What the gateway says to the upstream is not
// the client's to name: a DELETE without its override would be a POST.
func TestConnectionHeaderCannotStripGatewayHeaders(t *testing.T) {
	u := newRecorded(t, says("application/json", `{"id":1,"n":"x"}`))
	r := start(t, u.Addr, spoken)
	for _, connection := range []string{"X-HTTP-Method-Override, Content-Type", "close, x-http-method-override,content-type", "X-HTTP-Method-Override , , Content-Type, keep-alive"} {
		p := r.do("writer", http.MethodPut, "/things/1", `{"name":"y"}`, "Connection", connection)
		hit, body := u.last(t)
		if p.Status != 200 || body != `{"n":"y"}` || hit.Header.Get("X-Http-Method-Override") != "PUT" || hit.Header.Get("Content-Type") != "application/json" {
			t.Errorf("Connection: %s: %d %v %s", connection, p.Status, hit.Header, body)
		}
	}
	// What the client itself calls hop-by-hop ends here all the same (RFC 9110 section 7.6.1).
	r.do("writer", http.MethodPut, "/things/1", `{"name":"y"}`, "Connection", "X-Hop", "X-Hop", "1", "X-Other", "2")
	if hit, _ := u.last(t); hit.Header.Get("X-Hop") != "" || hit.Header.Get("X-Other") != "2" || hit.Header.Get("Connection") != "" {
		t.Errorf("%v", hit.Header)
	}
}

// Without a guard too nobody but the gateway says which request an upstream carries out:
// not in a batch, and not where a resource is read for a condition.
func TestHeadersCannotChangeTheDeclaredRequest(t *testing.T) {
	u := newRecorded(t, says("application/json", `{"result":{"id":1}}`))
	r := startIn(t, "\toauth_guard {\n\t\tpublic * /open /open/*\n\t\tscope read GET,HEAD,OPTIONS /*\n\t\tscope write POST,PUT,PATCH,DELETE /*\n\t\tallow_encoded_slash\n\t}\n", "",
		u.Addr, `"upstream": $TO, "resources": [{"path": "things", "item": "/result", "batch": ["a"], "etag": true}]`)
	for _, c := range [][]string{
		{"GET", "/things/1", ""},
		{"PATCH", "/things", `[{"id":1,"op":"replace","path":"/a","value":1}]`},
		{"DELETE", "/things/1", "", "If-Match", `"x"`},
	} {
		header := append([]string{"X-HTTP-Method-Override", "DELETE", "X_HTTP_Method", "DELETE", "X-Original-URL", "/admin", "X-Rewrite-Url", "/admin", "X.Original.Url", "/admin"}, c[3:]...)
		p := r.do("", c[0], c[1], c[2], header...)
		hits := u.Hits()
		if len(hits) != 1 {
			t.Fatalf("%s %s: %d %s: %d requests", c[0], c[1], p.Status, p.Body, len(hits))
		}
		for name := range hits[0].Header {
			if lower := strings.ToLower(name); strings.Contains(lower, "method") || strings.Contains(lower, "rl") && strings.HasPrefix(lower, "x") {
				t.Errorf("%s %s: the upstream was told %s", c[0], c[1], name)
			}
		}
	}
}

// Over a connection that was switched to HTTP/2, requests would follow that nobody judges.
func TestUpgradeToAnotherHTTPIsRefused(t *testing.T) {
	u := harness.NewUpstream(t)
	u.Answer(says("application/json", `{"id":1,"n":"x"}`))
	r := start(t, u.Addr, spoken)
	for _, upgrade := range []string{"h2c", "H2C", "websocket, h2c", "HTTP/2.0", "TLS/1.2, HTTP/1.1"} {
		for _, path := range []string{"/things/1", "/files/1"} {
			p := harness.Wire(t, r.API, "GET "+path, "Authorization: Bearer "+r.token("reader"), "Connection: Upgrade", "Upgrade: "+upgrade, "HTTP2-Settings: AAMAAABkAARAAAAAAAIAAAAA")
			hits := u.Hits()
			if p.Status != 200 || len(hits) != 1 || hits[0].Header.Get("Upgrade") != "" || hits[0].Header.Get("Http2-Settings") != "" || hits[0].Header.Get("Connection") != "" {
				t.Errorf("Upgrade: %s on %s: %d %v", upgrade, path, p.Status, hits)
			}
		}
	}
}
