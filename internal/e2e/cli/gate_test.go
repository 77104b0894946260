package cli

import (
	"context"
	"net"
	"net/http"
	"path/filepath"
	"strings"
	"testing"

	"github.com/gatehouse/gatehouse/internal/testkit/harness"
)

// H09: from a browser, or through something that forwards.
func TestAdminAPIRefusesBrowsersAndProxies(t *testing.T) {
	g := start(t)
	for name, c := range map[string]struct {
		header, value string
		want          int
	}{
		"a foreign origin":             {"Origin", "https://evil.example", 403},
		"a foreign origin, same port":  {"Origin", strings.Replace(g.Admin, "127.0.0.1", "evil.example", 1), 403},
		"the issuer's origin":          {"Origin", g.ID, 403},
		"no origin in particular":      {"Origin", "null", 400},
		"an origin with a path":        {"Origin", g.Admin + "/x", 403},
		"a fetch of a page":            {"Sec-Fetch-Site", "same-origin", 403},
		"an address that was typed in": {"Sec-Fetch-Dest", "document", 403},
		"a proxy":                      {"X-Forwarded-For", "192.0.2.1", 403},
		"a proxy by the standard":      {"Forwarded", "for=192.0.2.1", 403},
		"a cache":                      {"Via", "1.1 cache", 403},
		"another host name":            {"Host", "evil.example", 403},
		"a program":                    {"User-Agent", "curl", 200},
		"Caddy's own commands":         {"Origin", g.Admin, 200},
	} {
		t.Run(name, func(t *testing.T) {
			for _, method := range []string{"GET", "POST"} {
				path := "clients"
				if method == "POST" {
					path = "keys/rotate"
				}
				r, err := http.NewRequest(method, g.Admin+"/gatehouse/"+path, nil)
				if err != nil {
					t.Fatal(err)
				}
				r.Header.Set(c.header, c.value)
				if c.header == "Host" {
					r.Host = c.value
				}
				if p := harness.Do(t, http.DefaultClient, r); p.Status != c.want {
					t.Errorf("%s: %d %s", method, p.Status, p.Body)
				}
			}
		})
	}
}

// An operator may have opened Caddy's endpoint for a page of his own; it gets no users.
func TestOriginAllowedByCaddyIsStillRefused(t *testing.T) {
	g := startSite(t, strings.Replace(site, "admin $ADMIN", "admin $ADMIN {\n\t\torigins $ADMIN panel.example\n\t}", 1))
	if p := call(t, g, "GET", "clients", "", "Origin", "http://panel.example"); p.Status != http.StatusForbidden {
		t.Errorf("%d %s", p.Status, p.Body)
	}
	if p := call(t, g, "GET", "clients", "", "Origin", g.Admin); p.Status != http.StatusOK {
		t.Errorf("%d %s", p.Status, p.Body)
	}
}

// H09: from the network. The request itself comes over loopback: what counts is where
// others could come from.
func TestPublicAdminEndpointIsRefused(t *testing.T) {
	for _, host := range []string{"0.0.0.0", "", "[::]"} {
		t.Run("listening on "+host, func(t *testing.T) {
			_, port, _ := net.SplitHostPort(strings.TrimPrefix(harness.Prepare(t).Admin, "http://"))
			g := harness.Prepare(t, "$UPSTREAM", "localhost:1", "$GLOBAL", "", "$GUARD", "", "$ADMIN", host+":"+port)
			g.Admin = "http://127.0.0.1:" + port
			g.Start(t, site)
			p := call(t, g, "GET", "clients", "")
			code, message, _ := adminError(t, p)
			if p.Status != http.StatusForbidden || code != "forbidden" || !strings.Contains(message, "admin localhost:2019") {
				t.Errorf("%d %s", p.Status, p.Body)
			}
			r := command(t, g, "", "client", "list")
			if r.code != 1 || !strings.Contains(r.err, "403") { // already by Caddy, for the origin
				t.Errorf("the command: %+v", r)
			}
		})
	}
}

func TestAdminUnixSocketWorks(t *testing.T) {
	g := harness.Prepare(t)
	socket := filepath.Join(g.Dir, "admin.sock")
	up := harness.NewUpstream(t)
	g = harness.Prepare(t, "$UPSTREAM", up.Addr, "$GLOBAL", "", "$GUARD", "", "$ADMIN", "unix/"+socket+"|0600")
	g.StartWithoutAdmin(t, site)
	r := program(t, "", "gatehouse", "client", "list", "--address", "unix/"+socket)
	if r.code != 0 || !strings.Contains(r.out, "machine") {
		t.Errorf("%+v", r)
	}
	file := g.WriteFile(t, "Caddyfile", g.Text(site))
	if r := program(t, "", "gatehouse", "client", "list", "--config", file); r.code != 0 || !strings.Contains(r.out, "machine") {
		t.Errorf("with --config: %+v", r)
	}
	client := &http.Client{Transport: &http.Transport{DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
		return new(net.Dialer).DialContext(ctx, "unix", socket)
	}}}
	req, err := http.NewRequest("GET", "http://127.0.0.1/gatehouse/clients", nil)
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Sec-Fetch-Site", "none")
	if p := harness.Do(t, client, req); p.Status != http.StatusForbidden {
		t.Errorf("a browser at the socket: %d %s", p.Status, p.Body)
	}
}

func TestAdminAPIWithoutAGatewaySaysSo(t *testing.T) {
	harness.Program(t)
	g := harness.Start(t, "{\n\tadmin $ADMIN\n}\nhttp://$ID {\n\trespond ok\n}\n")
	p := call(t, g, "GET", "users", "")
	if code, message, _ := adminError(t, p); p.Status != http.StatusServiceUnavailable || code != "not_configured" || !strings.Contains(message, "gatehouse") {
		t.Errorf("%d %s", p.Status, p.Body)
	}
	if r := command(t, g, "", "user", "list"); r.code != 5 || !strings.Contains(r.err, "global option") {
		t.Errorf("%+v", r)
	}
	if code, all := examined(t, g); code != 1 || !has(all, "ok", "admin", "") || !has(all, "fail", "app", "global option") {
		t.Errorf("%+v", all)
	}
}

func TestCommandWithoutGatewaySaysWhereItLooked(t *testing.T) {
	g := harness.Prepare(t)
	for _, words := range [][]string{{"user", "list"}, {"client", "list"}, {"keys", "list"}, {"grant", "list", "u"}, {"explain", "GET", "/x"}} {
		r := command(t, g, "", words...)
		if r.code != 5 || !strings.Contains(r.err, strings.TrimPrefix(g.Admin, "http://")) || !strings.Contains(r.err, "--address") {
			t.Errorf("%v: %+v", words, r)
		}
	}
	if code, all := examined(t, g); code != 1 || !has(all, "fail", "admin", strings.TrimPrefix(g.Admin, "http://")) {
		t.Errorf("%+v", all)
	}
}
