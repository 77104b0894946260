package gateway

import (
	"bufio"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/gatehouse/gatehouse/internal/testkit/harness"
)

// ours are cookies that browsers would take for the gateway's.
var ours = []string{
	"gatehouse=stolen; Path=/", "gatehouse-browser=x; Path=/", "gatehouse-frame=x", "__Host-gatehouse=x; Secure; Path=/",
	"__host-GATEHOUSE-browser=x; Secure; Path=/", "__Secure-gatehouse=x; Secure", "=gatehouse=x; Path=/", " =  gatehouse=x", "gatehouse",
	`"gatehouse"=x`, ";gatehouse=x",
}

// hostile sets cookies of the gateway and of its own, and says whose challenges are whose.
func hostile(h http.Header) {
	for _, line := range ours {
		h.Add("Set-Cookie", "own=1; Path=/")
		h.Add("Set-Cookie", line)
	}
	h.Add("Www-Authenticate", `Bearer realm="https://api.example", error="invalid_token"`)
	h.Add("Www-Authenticate", `Basic realm="gatehouse"`)
	h.Add("Www-Authenticate", `Basic realm="own"`)
	h.Add("Clear-Site-Data", `"cache", "cookies"`)
	h.Add("Clear-Site-Data", `"coo kies"`) // Firefox leaves blanks out
	h.Add("Clear-Site-Data", `"storage"`)
}

// wantHarmless says that of what hostile sets only its own is left.
func wantHarmless(t *testing.T, h http.Header) {
	t.Helper()
	for _, line := range h["Set-Cookie"] {
		if line != "own=1; Path=/" {
			t.Errorf("Set-Cookie: %s", line)
		}
	}
	if n := len(h["Set-Cookie"]); n != len(ours) {
		t.Errorf("%d of the API's own cookies are left", n)
	}
	if got := h["Www-Authenticate"]; !slices.Equal(got, []string{`Basic realm="own"`}) {
		t.Errorf("WWW-Authenticate: %q", got)
	}
	if got := h["Clear-Site-Data"]; !slices.Equal(got, []string{`"storage"`}) {
		t.Errorf("Clear-Site-Data: %q", got)
	}
}

func TestUpstreamCannotSetGatewayHeaders(t *testing.T) {
	for name, guard := range map[string]string{"": "", " with cors": "cors " + app, " in the shadow": "shadow"} {
		t.Run("N05 behind a guard"+name, func(t *testing.T) {
			g, up := start(t, "$GUARD", guard)
			for _, status := range []int{200, 201, 302, 401, 404, 503} {
				up.Answer(func(w http.ResponseWriter, r *http.Request) {
					hostile(w.Header())
					w.WriteHeader(status)
				})
				for _, method := range []string{"GET", "HEAD"} {
					if guard == "" && method == "HEAD" {
						continue // no rule of this guard permits it
					}
					p := harness.Wire(t, g.API, method+" /public", "Origin: "+app)
					if method == "GET" && p.Status != status {
						t.Errorf("%d, want %d", p.Status, status)
					}
					if p.Status == status {
						wantHarmless(t, p.Header)
					}
				}
			}
		})
	}
}

func TestUpstreamCannotSetGatewayHeadersInAnyForm(t *testing.T) {
	g, up := start(t)
	t.Run("N05 as it streams", func(t *testing.T) {
		up.Answer(func(w http.ResponseWriter, r *http.Request) {
			hostile(w.Header())
			w.Header().Set("Content-Type", "text/event-stream")
			for range 3 {
				_, _ = io.WriteString(w, "data: x\n\n")
				_ = http.NewResponseController(w).Flush()
			}
		})
		p := harness.Wire(t, g.API, "GET /public")
		wantHarmless(t, p.Header)
		if strings.Count(p.Body, "data: x") != 3 {
			t.Errorf("%q", p.Body)
		}
	})
	t.Run("N05 in trailers", func(t *testing.T) {
		for _, announced := range []bool{true, false} {
			up.Answer(func(w http.ResponseWriter, r *http.Request) {
				name := "Set-Cookie"
				if announced {
					w.Header().Set("Trailer", "Set-Cookie, X-Own")
				} else {
					name = http.TrailerPrefix + name
				}
				_, _ = io.WriteString(w, "x")
				_ = http.NewResponseController(w).Flush()
				w.Header()[name] = []string{"gatehouse=x; Path=/"}
				w.Header().Set(strings.Replace(name, "Set-Cookie", "X-Own", 1), "y")
			})
			c := harness.Dial(t, g.API)
			if _, err := fmt.Fprintf(c, "GET /public HTTP/1.1\r\nHost: %s\r\nTe: trailers\r\nConnection: close\r\n\r\n", strings.TrimPrefix(g.API, "http://")); err != nil {
				t.Fatal(err)
			}
			raw, err := io.ReadAll(c)
			if err != nil || !strings.Contains(string(raw), "X-Own: y") || strings.Contains(string(raw), "gatehouse=") {
				t.Errorf("announced %v: %v\n%s", announced, err, raw)
			}
		}
	})
	t.Run("N05 in informational answers", func(t *testing.T) {
		up.Answer(func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Link", "</x.css>; rel=preload")
			w.Header().Set("Set-Cookie", "gatehouse=x; Path=/")
			w.WriteHeader(http.StatusEarlyHints)
			w.Header().Del("Set-Cookie")
			w.WriteHeader(http.StatusOK)
		})
		c := harness.Dial(t, g.API)
		if _, err := fmt.Fprintf(c, "GET /public HTTP/1.1\r\nHost: %s\r\nConnection: close\r\n\r\n", strings.TrimPrefix(g.API, "http://")); err != nil {
			t.Fatal(err)
		}
		raw, err := io.ReadAll(c)
		if err != nil || !strings.HasPrefix(string(raw), "HTTP/1.1 103") || strings.Contains(string(raw), "gatehouse=") {
			t.Errorf("%v\n%s", err, raw)
		}
	})
	t.Run("N05 with another protocol", func(t *testing.T) {
		up.Answer(func(w http.ResponseWriter, r *http.Request) {
			c, rw, err := http.NewResponseController(w).Hijack()
			if err != nil {
				t.Error(err)
				return
			}
			defer c.Close()
			_, _ = rw.WriteString("HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nSet-Cookie: gatehouse=x; Path=/\r\nSet-Cookie: own=1\r\n\r\n")
			_ = rw.Flush()
			line, _ := rw.ReadString('\n')
			_, _ = rw.WriteString("echo " + line)
			_ = rw.Flush()
		})
		c := harness.Dial(t, g.API)
		if _, err := fmt.Fprintf(c, "GET /public HTTP/1.1\r\nHost: %s\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n", strings.TrimPrefix(g.API, "http://")); err != nil {
			t.Fatal(err)
		}
		from := bufio.NewReader(c)
		res, err := http.ReadResponse(from, nil)
		if err != nil || res.StatusCode != http.StatusSwitchingProtocols || !slices.Equal(res.Header["Set-Cookie"], []string{"own=1"}) {
			t.Fatalf("%v %+v", err, res)
		}
		_, _ = io.WriteString(c, "hello\n")
		if line, err := from.ReadString('\n'); err != nil || line != "echo hello\n" {
			t.Errorf("%v %q", err, line)
		}
	})
	t.Run("N05 it is counted", func(t *testing.T) {
		up.Answer(func(w http.ResponseWriter, r *http.Request) { hostile(w.Header()) })
		for _, field := range []string{"set_cookie", "clear_site_data", "www_authenticate"} {
			series := `caddy_gatehouse_upstream_fields_removed_total{field="` + field + `"}`
			before := g.Metric(t, series)
			harness.Wire(t, g.API, "GET /public")
			if n := g.Metric(t, series); n != before+1 {
				t.Errorf("%s: from %v to %v", field, before, n)
			}
		}
	})
}

func TestFirstForbiddenUpstreamFieldIsLogged(t *testing.T) { // N05
	g, up := prepare(t)
	file := filepath.Join(g.Dir, "gateway.log")
	g.Start(t, strings.Replace(site, "output discard", "output file "+file, 1))
	up.Answer(func(w http.ResponseWriter, r *http.Request) { hostile(w.Header()) })
	for range 5 {
		harness.Wire(t, g.API, "GET /public")
	}
	log, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	for _, field := range []string{"set_cookie", "clear_site_data", "www_authenticate"} {
		if n := strings.Count(string(log), `"field":"`+field+`"`); n != 1 {
			t.Errorf("%d lines about %s", n, field)
		}
	}
	if strings.Contains(string(log), "stolen") {
		t.Error("the value is in the log")
	}
}

// The issuer and the API share a host: what the API answers leaves the session alone.
func TestAPIOnTheIssuersHostCannotReplaceTheSession(t *testing.T) { // N05
	g, up := startSite(t, strings.Replace(site, `http://$ID {
	oauth_server
}
`, `http://$ID {
	handle /legacy* {
		oauth_guard {
			public /*
		}
		reverse_proxy $UPSTREAM
	}
	handle {
		oauth_server
	}
}
`, 1))
	up.Answer(func(w http.ResponseWriter, r *http.Request) {
		hostile(w.Header())
		_, _ = io.WriteString(w, "x")
	})
	b := harness.NewBrowser(t, g.ID)
	authorize := authorizeURL(g, "web")
	b.Authorize(authorize, username, password)
	wantHarmless(t, b.Get(g.ID+"/legacy").Header)
	if p := b.Get(authorize); p.Status != http.StatusFound || p.Location(t).Query().Get("code") == "" {
		t.Errorf("the session is gone: %d %v", p.Status, p.Header)
	}
}

// A guard, or the authorization server, behind another guard says what it always says.
func TestGatewayChallengesPassOuterGuards(t *testing.T) { // N05
	g, up := startSite(t, strings.NewReplacer("http://$ID {\n", `http://$ID {
	route {
		oauth_guard {
			public /*
		}
		api_errors
		oauth_guard {
			public /healthy
			scope read /legacy
			otherwise token
		}
	}
`, "oauth_server\n", "route /userinfo {\n\t\toauth_guard {\n\t\t\tpublic /*\n\t\t}\n\t\toauth_server\n\t}\n").Replace(site))
	for line, realm := range map[string]string{"GET /legacy": "https://api.example", "GET /userinfo": g.ID} {
		p := harness.Wire(t, g.ID, line)
		if !strings.Contains(p.Header.Get("Www-Authenticate"), `realm="`+realm+`"`) {
			t.Errorf("%s: %d %v %s", line, p.Status, p.Header, p.Body)
		}
	}
	wantHits(t, up, 0)
}

// What an upstream, or a script on a page of it, has put into a browser all the same is no
// session, and no reason to fail.
func TestForeignCookiesWithOurNamesAreIgnored(t *testing.T) { // N05
	g, _ := start(t)
	foreign := strings.Repeat("A", 43)
	for _, cookie := range []string{
		"gatehouse=x", "gatehouse=" + foreign, "gatehouse=", "gatehouse", `gatehouse="` + foreign + `"`, "gatehouse=a; gatehouse=b",
		"gatehouse=" + foreign + "; gatehouse-browser=x", "gatehouse-browser=x; gatehouse-browser=" + foreign,
	} {
		p := harness.Wire(t, g.ID, "GET "+strings.TrimPrefix(authorizeURL(g, "web"), g.ID), "Cookie: "+cookie)
		for p.Status == http.StatusSeeOther || p.Status == http.StatusFound {
			to := p.Location(t)
			p = harness.Wire(t, g.ID, "GET "+to.RequestURI(), "Cookie: "+cookie)
		}
		if p.Status != http.StatusOK || !strings.Contains(p.Body, `type="password"`) {
			t.Errorf("%s: %d %.200s", cookie, p.Status, p.Body)
		}
	}
}
