package gateway

import (
	"bufio"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/gatehouse/gatehouse/internal/testkit/harness"
)

const app = "https://app.example"

// preflight is what a browser sends before a cross-origin request of a method, with more
// fields, over a connection of its own.
func preflight(t *testing.T, g *harness.Gateway, target, method string, more ...string) harness.Page {
	t.Helper()
	return harness.Wire(t, g.API, "OPTIONS "+target, append([]string{"Origin: " + app, "Access-Control-Request-Method: " + method}, more...)...)
}

// wantNoCORS says that scripts of other origins learn nothing from an answer.
func wantNoCORS(t *testing.T, p harness.Page) {
	t.Helper()
	for name := range p.Header {
		if strings.HasPrefix(name, "Access-Control-") {
			t.Errorf("%s: %q", name, p.Header[name])
		}
	}
}

func TestGuardWithoutCORSTreatsPreflightsAsRequests(t *testing.T) {
	g, up := start(t, "$GUARD", "public OPTIONS /asked\npublic /anything")
	t.Run("N01 no rule permits it", func(t *testing.T) {
		for _, target := range []string{
			"/read", "/read/7", "/public", "/else", "/api.php?act=del&aid=7", "/read?act=del", "/",
		} {
			for _, method := range []string{"GET", "DELETE", "POST", "X"} {
				p := preflight(t, g, target, method, "Cookie: PHPSESSID=7", "X-HTTP-Method-Override: DELETE")
				wantEnvelope(t, p, http.StatusForbidden, "forbidden")
				wantNoCORS(t, p)
			}
		}
		wantHits(t, up, 0)
	})
	t.Run("N01 a rule asks for a token", func(t *testing.T) {
		wantChallenge(t, preflight(t, g, "/admin/x?act=del", "GET"), up, http.StatusUnauthorized, "")
	})
	t.Run("N01 a public rule has the method OPTIONS", func(t *testing.T) {
		for _, target := range []string{"/asked", "/anything"} {
			if p := preflight(t, g, target, "DELETE"); p.Status != http.StatusOK {
				t.Errorf("%s: %d %s", target, p.Status, p.Body)
			}
			if hits := wantHits(t, up, 1); hits[0].Method != http.MethodOptions {
				t.Error(hits[0].Method)
			}
		}
	})
}

func TestGuardWithoutRulesRefusesPreflights(t *testing.T) { // N01
	for _, words := range []string{"", "otherwise token"} {
		g, up := startSite(t, strings.Replace(site, `		public GET /public /public/*
		scope read GET,HEAD /read /read/*
		scope write POST,PUT,DELETE /read /read/*
		scope admin * /admin /admin/*
`, "", 1), "$GUARD", words)
		p := preflight(t, g, "/api.php?act=del&aid=7", "DELETE")
		wantEnvelope(t, p, http.StatusForbidden, "forbidden")
		wantNoCORS(t, p)
		wantHits(t, up, 0)
	}
}

func TestUpstreamPreflightsAreStripped(t *testing.T) {
	g, up := start(t, "$GUARD", "cors upstream\nforward_token", "$LIMIT", "ip 100000 1m")
	up.Answer(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Access-Control-Allow-Origin", app)
		w.Header().Set("Access-Control-Allow-Methods", "DELETE")
		w.WriteHeader(http.StatusNoContent)
	})
	t.Run("N01 no query, cookies, credentials or body", func(t *testing.T) {
		p := preflight(t, g, "/read/7?act=del&aid=7", "DELETE",
			"Access-Control-Request-Headers: authorization,x-csrf", "User-Agent: Test/1",
			"Cookie: PHPSESSID=7; other=1", "Proxy-Authorization: Basic eDp5", "X-Api-Key: k", "X-Auth-Subject: u-1", "X_Auth_Client: web",
			"X-Auth-Token: t", "X-HTTP-Method-Override: DELETE", "X-Original-URL: /admin", "Referer: https://app.example/?access=1",
			"Content-Type: application/x-www-form-urlencoded", "Content-Length: 0", "Expect: 100-continue", "Upgrade: websocket", "Te: trailers")
		if p.Status != http.StatusNoContent || p.Header.Get("Access-Control-Allow-Origin") != app || p.Header.Get("Access-Control-Allow-Methods") != "DELETE" {
			t.Fatalf("%d %v %s", p.Status, p.Header, p.Body)
		}
		hit := wantHits(t, up, 1)[0]
		if hit.RequestURI != "/read/7" || hit.Method != http.MethodOptions || hit.ContentLength != 0 || len(hit.TransferEncoding) > 0 {
			t.Errorf("%s %s, a body of %d %v", hit.Method, hit.RequestURI, hit.ContentLength, hit.TransferEncoding)
		}
		for name, values := range hit.Header {
			switch name {
			case "Origin", "Access-Control-Request-Method", "Access-Control-Request-Headers", "User-Agent", "Via", "Accept-Encoding",
				"X-Forwarded-For", "X-Forwarded-Host", "X-Forwarded-Proto":
			default:
				t.Errorf("%s: %q", name, values)
			}
		}
		if hit.Header.Get("Origin") != app || hit.Header.Get("Access-Control-Request-Method") != "DELETE" || hit.Header.Get("Access-Control-Request-Headers") != "authorization,x-csrf" {
			t.Error(hit.Header)
		}
	})
	t.Run("N01 only what a rule knows", func(t *testing.T) {
		for target, methods := range map[string][]string{
			"/read":    {"PATCH", "OPTIONS", "TRACE", "CONNECT", "delete", "Get", "GE T", "GET, DELETE", "*"},
			"/public":  {"POST", "DELETE", "HEAD"},
			"/else":    {"GET", "POST"},
			"/api.php": {"GET"},
			"/admin":   {"TRACE", "TRACK", "CONNECT", "post", "G\xffT"},
		} {
			for _, method := range methods {
				p := preflight(t, g, target, method)
				wantEnvelope(t, p, http.StatusForbidden, "forbidden")
				wantNoCORS(t, p)
			}
		}
		p := preflight(t, g, "/read", "GET", "Access-Control-Request-Method: DELETE")
		wantEnvelope(t, p, http.StatusForbidden, "forbidden")
		for _, target := range []string{"/read/../else", "/read//x", "/read%2Fx", "/read/%252e%252e", "/read?access_token=x"} {
			if p := preflight(t, g, target, "GET"); p.Status != http.StatusBadRequest {
				t.Errorf("%s: %d", target, p.Status)
			}
		}
		wantHits(t, up, 0)
		for target, method := range map[string]string{"/read": "GET", "/read/7": "PUT", "/public/x": "GET", "/admin": "PATCH", "/%72ead": "HEAD"} {
			if p := preflight(t, g, target, method); p.Status != http.StatusNoContent {
				t.Errorf("%s %s: %d %s", method, target, p.Status, p.Body)
			}
		}
		wantHits(t, up, 5)
	})
	t.Run("N01 with a token or a body it is no preflight", func(t *testing.T) {
		wantEnvelope(t, preflight(t, g, "/read", "GET", "Authorization: Bearer x"), http.StatusForbidden, "forbidden")
		for _, framing := range []string{"Content-Length: 7\r\n\r\naid=7&a", "Transfer-Encoding: chunked\r\n\r\n7\r\naid=7&a\r\n0\r\n\r\n"} {
			c := harness.Dial(t, g.API)
			if _, err := fmt.Fprintf(c, "OPTIONS /read HTTP/1.1\r\nHost: %s\r\nConnection: close\r\nOrigin: %s\r\nAccess-Control-Request-Method: GET\r\n%s",
				strings.TrimPrefix(g.API, "http://"), app, framing); err != nil {
				t.Fatal(err)
			}
			wantEnvelope(t, harness.ReadAnswer(t, bufio.NewReader(c), http.MethodOptions), http.StatusForbidden, "forbidden")
		}
		wantHits(t, up, 0)
	})
	t.Run("N01 other requests keep the CORS headers of the upstream", func(t *testing.T) {
		up.Answer(func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Access-Control-Allow-Origin", "https://own.example")
			w.Header().Set("Access-Control-Allow-Credentials", "true")
			_, _ = io.WriteString(w, "x")
		})
		p := harness.Wire(t, g.API, "GET /public?a=b", "Origin: "+app, "Cookie: a=1")
		if p.Header.Get("Access-Control-Allow-Origin") != "https://own.example" || p.Header.Get("Access-Control-Allow-Credentials") != "true" {
			t.Error(p.Header)
		}
		if hit := wantHits(t, up, 1)[0]; hit.URL.RawQuery != "a=b" || hit.Header.Get("Cookie") != "a=1" {
			t.Errorf("%s %v", hit.RequestURI, hit.Header)
		}
	})
}

// What a configuration writes into the upstream's request is asked of the request as it is
// passed on, or as it came.
func TestPlaceholdersCannotRestoreAPreflightsQuery(t *testing.T) { // N01
	site := strings.Replace(site, "reverse_proxy $UPSTREAM", `reverse_proxy $UPSTREAM {
		rewrite "/rewritten?{query}&{http.request.orig_uri.query}"
		header_up X-Uri {http.request.orig_uri}
		header_up X-Cookie "{http.request.cookie.c}{http.request.header.X-Api-Key}{http.request.uri.query.aid}{http.request.orig_uri.prefixed_query}"
	}`, 1)
	g, up := startSite(t, site, "$GUARD", "cors upstream")
	preflight(t, g, "/read/7?act=del&aid=7", "DELETE", "Cookie: c=1", "X-Api-Key: k")
	hit := wantHits(t, up, 1)[0]
	if hit.URL.Path != "/rewritten" || strings.Trim(hit.URL.RawQuery, "&") != "" || hit.Header.Get("X-Uri") != "/read/7" || hit.Header.Get("X-Cookie") != "" {
		t.Errorf("%s %v", hit.RequestURI, hit.Header)
	}
}

func TestUpstreamPreflightsAreLimitedByAddress(t *testing.T) {
	t.Run("N01 by api_limit", func(t *testing.T) {
		g, up := start(t, "$GUARD", "cors upstream\notherwise token", "$LIMIT", "ip 3 1h\nroute 1 1h")
		for i := range 5 {
			p := preflight(t, g, "/else", "DELETE")
			if limited := p.Status == http.StatusTooManyRequests; limited != (i >= 3) {
				t.Errorf("preflight %d: %d", i+1, p.Status)
			}
		}
		wantHits(t, up, 3)
	})
	t.Run("N01 by the guard", func(t *testing.T) {
		g, up := start(t, "$GUARD", "cors upstream")
		passed := 0
		p := preflight(t, g, "/read", "GET")
		for ; p.Status == http.StatusOK && passed < 5000; p = preflight(t, g, "/read", "GET") {
			passed++
		}
		wantEnvelope(t, p, http.StatusTooManyRequests, "rate_limited")
		if hits := len(up.Hits()); hits != passed || passed < 100 || p.Header.Get("Retry-After") == "" {
			t.Errorf("%d passed, %d arrived, then %v", passed, hits, p.Header)
		}
		if p := harness.Wire(t, g.API, "GET /public", "Origin: "+app); p.Status != http.StatusOK {
			t.Errorf("requests that are no preflights: %d", p.Status)
		}
	})
}

func TestPreflightsAnsweredByTheGuardAreNotForwarded(t *testing.T) { // N01
	g, up := start(t, "$GUARD", "cors "+app)
	p := preflight(t, g, "/api.php?act=del&aid=7", "DELETE")
	if p.Status != http.StatusNoContent || p.Header.Get("Access-Control-Allow-Origin") != app {
		t.Errorf("%d %v", p.Status, p.Header)
	}
	wantHits(t, up, 0)
}
