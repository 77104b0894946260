package guard

import (
	"net/http"
	"strings"
	"testing"
)

const reader = "https://reader.example"

func TestPreflights(t *testing.T) {
	with := build(t, func(c *Config) { c.CORS = []string{reader, "http://localhost:5173"} })
	without := build(t, nil)
	preflight := []string{"Origin", reader, "Access-Control-Request-Method", "DELETE", "Access-Control-Request-Headers", "authorization,x-tenant"}
	r := request("OPTIONS", "/articles/7", preflight...)
	if d := with.Decide(r); d.Allowed || d.Status != 204 || d.Reason != Preflight || d.Code != "" {
		t.Fatalf("%+v", d)
	}
	h := http.Header{}
	with.CORS(r).Set(h)
	if h.Get("Access-Control-Allow-Origin") != reader || !strings.Contains(h.Get("Access-Control-Allow-Methods"), "DELETE") ||
		h.Get("Access-Control-Allow-Headers") != "authorization,x-tenant" || h.Get("Access-Control-Max-Age") == "" ||
		h.Get("Access-Control-Allow-Credentials") != "" || strings.Join(h["Vary"], ",") != "Origin, Access-Control-Request-Method, Access-Control-Request-Headers" {
		t.Fatal(h)
	}
	r.ContentLength = -1 // as over HTTP/3
	if d := with.Decide(r); d.Reason != Preflight {
		t.Errorf("without Content-Length: %+v", d)
	}
	if d := without.Decide(r); d.Allowed || d.Reason != NoRule || d.Status != 403 {
		t.Fatalf("without cors it is judged by the rules: %+v", d)
	}
	if d := without.Decide(request("OPTIONS", "/public/x", preflight...)); !d.Allowed || d.Reason != Public {
		t.Errorf("a public rule permits every method: %+v", d)
	}
	for name, target := range map[string]string{"bad path": "/a/../b", "encoded slash": "/a%2Fb"} {
		if d := without.Decide(request("OPTIONS", target, preflight...)); d.Allowed {
			t.Errorf("%s: %+v", name, d)
		}
	}
	for name, change := range map[string]func(*http.Request){
		"no origin":    func(r *http.Request) { r.Header.Del("Origin") },
		"no method":    func(r *http.Request) { r.Header.Del("Access-Control-Request-Method") },
		"a token":      func(r *http.Request) { r.Header.Set("Authorization", "Bearer both") },
		"a body":       func(r *http.Request) { r.ContentLength = 1 },
		"a chunk":      func(r *http.Request) { r.ContentLength, r.TransferEncoding = -1, []string{"chunked"} },
		"other method": func(r *http.Request) { r.Method = "DELETE" },
	} {
		r := request("OPTIONS", "/articles/7", preflight...)
		change(r)
		for _, g := range []*Guard{with, without} {
			if d := g.Decide(r); d.Reason != NoRule {
				t.Errorf("with %s it is no preflight: %+v", name, d)
			}
		}
	}
}

// The usual methods are always listed; another one only where a rule permits it.
func TestPreflightsAllowAdditionalRuleMethods(t *testing.T) {
	const usual = "GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS"
	cors := func(c *Config) {
		c.CORS = []string{reader}
		c.Rules = append(c.Rules, Rule{Scopes: []string{"articles:read"}, Methods: []string{"PROPFIND", "REPORT"}, Paths: []string{"/dav/*"}})
	}
	closed := build(t, cors)
	open := build(t, func(c *Config) { cors(c); c.Otherwise = Token })
	for _, c := range []struct{ target, asked, closed, open string }{
		{"/dav/x", "PROPFIND", usual + ", PROPFIND", usual + ", PROPFIND"},
		{"/dav/x", "REPORT", usual + ", REPORT", usual + ", REPORT"},
		{"/dav/x", "LOCK", usual, usual + ", LOCK"},
		{"/else", "PROPFIND", usual, usual + ", PROPFIND"},
		{"/public/x", "PROPFIND", usual + ", PROPFIND", usual + ", PROPFIND"}, // a rule without methods is for all
		{"/dav/x", "GET", usual, usual},
		{"/public/x", "TRACE", usual, usual},
		{"/public/x", "propfind", usual, usual},
		{"/public/x", "A, B", usual, usual},
		{"/public/x", strings.Repeat("A", corsMaxMethod), usual + ", " + strings.Repeat("A", corsMaxMethod), usual + ", " + strings.Repeat("A", corsMaxMethod)},
		{"/public/x", strings.Repeat("A", corsMaxMethod+1), usual, usual},
		{"/public/a%2Fb", "PROPFIND", usual, usual},
	} {
		for g, want := range map[*Guard]string{closed: c.closed, open: c.open} {
			h := http.Header{}
			g.CORS(request("OPTIONS", c.target, "Origin", reader, "Access-Control-Request-Method", c.asked)).Set(h)
			if got := h.Get("Access-Control-Allow-Methods"); got != want {
				t.Errorf("%s %s: %q, want %q", c.asked, c.target, got, want)
			}
		}
	}
}

func TestCORSResponseHeaders(t *testing.T) {
	g := build(t, func(c *Config) { c.CORS = []string{reader} })
	for _, c := range []struct {
		origin []string
		want   string
	}{
		{[]string{reader}, reader},
		{nil, ""},
		{[]string{"https://evil.example"}, ""},
		{[]string{reader + ".evil.example"}, ""},
		{[]string{"http://reader.example"}, ""},
		{[]string{"https://READER.example"}, ""},
		{[]string{"null"}, ""},
		{[]string{reader, reader}, ""},
		{[]string{reader + ", https://evil.example"}, ""},
	} {
		r := request("GET", "/articles")
		r.Header["Origin"] = c.origin
		h := http.Header{
			"Access-Control-Allow-Origin": {"*"}, "Access-Control-Allow-Credentials": {"true"}, "Vary": {"Accept"}, "X-Kept": {"1"},
		}
		g.CORS(r).Set(h)
		if h.Get("Access-Control-Allow-Origin") != c.want || h.Get("Access-Control-Allow-Credentials") != "" || h.Get("X-Kept") == "" {
			t.Errorf("%q: %v", c.origin, h)
		}
		if strings.Join(h["Vary"], ",") != "Accept, Origin" {
			t.Errorf("%q: Vary %q", c.origin, h["Vary"])
		}
		if exposed := h.Get("Access-Control-Expose-Headers"); (exposed != "") != (c.want != "") || c.want != "" && !strings.Contains(exposed, "X-RateLimit-Reset") {
			t.Errorf("%q exposes %q", c.origin, exposed)
		}
	}
	h := http.Header{"Vary": {"accept, ORIGIN"}}
	g.CORS(request("GET", "/articles")).Set(h)
	g.CORS(request("GET", "/articles")).Set(h)
	if len(h["Vary"]) != 1 {
		t.Error(h)
	}
}

func TestCORSForAllAndForNone(t *testing.T) {
	r := request("GET", "/articles", "Origin", "https://any.example")
	h := http.Header{}
	build(t, func(c *Config) { c.CORS = []string{"*"} }).CORS(r).Set(h)
	if h.Get("Access-Control-Allow-Origin") != "*" || h["Vary"] != nil {
		t.Error(h)
	}
	// A cache gives a response without the field, which does not vary by Origin, to the scripts of all pages.
	h = http.Header{}
	build(t, func(c *Config) { c.CORS = []string{"*"} }).CORS(request("GET", "/articles")).Set(h)
	if h.Get("Access-Control-Allow-Origin") != "*" || h["Vary"] != nil {
		t.Error("without Origin:", h)
	}
	h = http.Header{"Access-Control-Allow-Origin": {"https://upstream.example"}}
	build(t, nil).CORS(r).Set(h)
	if len(h) != 1 || h.Get("Access-Control-Allow-Origin") != "https://upstream.example" {
		t.Error("without cors all is the upstream's:", h)
	}
}
