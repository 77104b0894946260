package gateway

import (
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/gatehouse/gatehouse/internal/testkit/harness"
)

func TestUpstreamFailuresUseTheEnvelope(t *testing.T) {
	g, up := start(t)
	for _, c := range []struct {
		name, media, body string
		status            int
		code, message     string // message "": any
		never             string
	}{
		{"JSON", "application/json", `{"code":"E42","message":"No such title."}`, 404, "not_found", "No such title.", "E42"},
		{"JSON of another shape", "application/json", `{"error":"No such title.","trace":"at com.example.Main(Main.java:1)"}`, 400, "bad_request", "", "Main.java"},
		{"JSON labelled HTML", "text/html", `{"message":"Not now."}`, 409, "conflict", "Not now.", ""},
		{"HTML", "text/html; charset=utf-8", `<!doctype html><html><head><title>Not Found</title></head><body><h1>Not here</h1><p>Apache/2.4</p></body></html>`, 404, "not_found", "", "Apache"},
		{"text", "text/plain", "title is too long", 422, "validation_failed", "title is too long", ""},
		{"nothing", "", "", 410, "gone", "", ""},
		{"JSON, 5xx", "application/json", `{"message":"SELECT * FROM users failed at 10.0.0.7"}`, 500, "upstream_error", "", "SELECT"},
		{"HTML, 5xx", "text/html", `<html><h1>Fatal error</h1><pre>/var/www/index.php:42</pre></html>`, 503, "unavailable", "", "index.php"},
		{"text, 5xx", "text/plain", "panic: runtime error\ngoroutine 1 [running]:\nmain.go:1", 500, "upstream_error", "", "goroutine"},
		{"a redirect loop of a proxy", "text/html", "<h1>504 Gateway Time-out</h1>nginx", 504, "upstream_timeout", "", "nginx"},
		{"a teapot", "text/plain", "short and stout", 418, "bad_request", "short and stout", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			up.Answer(func(w http.ResponseWriter, _ *http.Request) {
				w.Header().Set("Content-Type", c.media)
				w.Header().Set("Retry-After", "7")
				w.WriteHeader(c.status)
				_, _ = io.WriteString(w, c.body)
			})
			p := g.Call(t, http.MethodGet, "/public", "")
			e := wantEnvelope(t, p, c.status, c.code)
			if c.message != "" && e["message"] != c.message || c.never != "" && strings.Contains(p.Body, c.never) || p.Header.Get("Retry-After") != "7" {
				t.Errorf("%v %s", p.Header, p.Body)
			}
			head := send(t, harness.NewBrowser(t, ""), http.MethodHead, g.API+"/public", "")
			if head.Status != http.StatusForbidden || head.Body != "" { // the public rule is for GET
				t.Errorf("HEAD: %d %s", head.Status, head.Body)
			}
		})
	}
	t.Run("one that has the form already", func(t *testing.T) {
		const body = `{"error":{"code":"title_taken","message":"Taken.","field":"title"}}`
		up.Answer(func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "application/json")
			w.WriteHeader(http.StatusConflict)
			_, _ = io.WriteString(w, body)
		})
		p := g.Call(t, http.MethodGet, "/public", "")
		if e := wantEnvelope(t, p, http.StatusConflict, "title_taken"); e["field"] != "title" || p.Body != body {
			t.Errorf("%s", p.Body)
		}
	})
	t.Run("a success is not touched", func(t *testing.T) {
		const body = " {\"error\": {\"n\": 12345678901234567890}}\n"
		up.Answer(func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "application/json")
			_, _ = io.WriteString(w, body)
		})
		if p := g.Call(t, http.MethodGet, "/public", ""); p.Status != http.StatusOK || p.Body != body {
			t.Errorf("%d %q", p.Status, p.Body)
		}
	})
}

func TestGatewayFailuresUseTheEnvelope(t *testing.T) {
	dead := "127.0.0.1:1"
	g, _ := startSite(t, limited(site, "all 2 1h"), "$UPSTREAM", dead)
	access, _ := wantTokens(t, g.Token(t, machine, credentialsForm))
	wantEnvelope(t, g.Call(t, http.MethodGet, "/read", ""), http.StatusUnauthorized, "unauthorized")
	wantEnvelope(t, g.Call(t, http.MethodGet, "/read", "x"), http.StatusUnauthorized, "invalid_token")
	wantEnvelope(t, g.Call(t, http.MethodGet, "/admin", access), http.StatusForbidden, "insufficient_scope")
	wantEnvelope(t, g.Call(t, http.MethodGet, "/nowhere", access), http.StatusForbidden, "forbidden")
	wantEnvelope(t, harness.Wire(t, g.API, "TRACE /read"), http.StatusMethodNotAllowed, "method_not_allowed")
	wantEnvelope(t, harness.Wire(t, g.API, "GET /public/..;/read"), http.StatusBadRequest, "bad_request")
	for range 2 {
		p := g.Call(t, http.MethodGet, "/read", access)
		wantEnvelope(t, p, http.StatusBadGateway, "upstream_unreachable")
		if strings.Contains(p.Body, "127.0.0.1") || p.Header.Get("X-Ratelimit-Limit") != "2" {
			t.Errorf("%v %s", p.Header, p.Body)
		}
	}
	p := g.Call(t, http.MethodGet, "/read", access)
	wantEnvelope(t, p, http.StatusTooManyRequests, "rate_limited")
	t.Run("404 of the site itself", func(t *testing.T) {
		g.Load(t, strings.Replace(site, "reverse_proxy $UPSTREAM", "error /public 404\n\trespond ok", 1))
		wantEnvelope(t, g.Call(t, http.MethodGet, "/public", ""), http.StatusNotFound, "not_found")
	})
}

func TestSiteCanRenderErrorsItself(t *testing.T) {
	own := strings.Replace(site, "\tapi_errors\n", "\thandle_errors {\n\t\theader X-Mine yes\n\t\trespond \"mine {err.status_code}\"\n\t}\n", 1)
	g, _ := startSite(t, limited(own, "client 1 1h"), "$UPSTREAM", "127.0.0.1:1")
	access, _ := wantTokens(t, g.Token(t, machine, credentialsForm))
	for _, c := range []struct {
		path, token, want string
		status            int
	}{
		{"/read", "", "mine 401", 401}, {"/read", "x", "mine 401", 401}, {"/admin", access, "mine 403", 403}, {"/read", access, "mine 502", 502}, {"/read", access, "mine 429", 429},
	} {
		p := g.Call(t, http.MethodGet, c.path, c.token)
		if p.Status != c.status || p.Body != c.want || p.Header.Get("X-Mine") != "yes" {
			t.Errorf("%s: %d %v %s", c.want, p.Status, p.Header, p.Body)
		}
		if c.status == 401 && !strings.HasPrefix(p.Header.Get("Www-Authenticate"), "Bearer ") || c.status == 429 && p.Header.Get("Retry-After") == "" ||
			c.status == 502 && p.Header.Get("X-Ratelimit-Limit") != "1" {
			t.Errorf("%d: %v", c.status, p.Header)
		}
	}
}
