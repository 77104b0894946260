package gateway

import (
	"bufio"
	"encoding/json"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/gatehouse/gatehouse/internal/testkit/harness"
)

// logged is the site with a log on both addresses, and the default log in a file too.
func logged(t *testing.T, more ...string) *harness.Gateway {
	t.Helper()
	text := strings.NewReplacer(
		"output discard", "output file $DIR/default.log",
		"http://$ID {\n", "http://$ID {\n\tlog {\n\t\toutput file $DIR/id.log\n\t}\n\t$IDSITE\n",
		"http://$API {\n", "http://$API {\n\tlog named {\n\t\toutput file $DIR/api.log\n\t}\n",
	).Replace(site)
	g, _ := startSite(t, text, append(more, "$IDSITE", "")...)
	return g
}

// lines reads a log, waiting until it has at least n lines.
func lines(t *testing.T, g *harness.Gateway, name string, n int) []map[string]any {
	t.Helper()
	for deadline := time.Now().Add(5 * time.Second); ; time.Sleep(10 * time.Millisecond) {
		var out []map[string]any
		f, err := os.Open(filepath.Join(g.Dir, name))
		if err == nil {
			s := bufio.NewScanner(f)
			s.Buffer(nil, 1<<20)
			for s.Scan() {
				var m map[string]any
				if err := json.Unmarshal(s.Bytes(), &m); err != nil {
					t.Fatalf("%s: %v: %s", name, err, s.Bytes())
				}
				out = append(out, m)
			}
			_ = f.Close()
		}
		if len(out) >= n {
			return out
		}
		if time.Now().After(deadline) {
			t.Fatalf("%s has %d lines, want %d: %v", name, len(out), n, out)
		}
	}
}

// field follows a path of names into a line.
func field(m map[string]any, path ...string) any {
	var v any = m
	for _, name := range path {
		m, ok := v.(map[string]any)
		if !ok {
			return nil
		}
		v = m[name]
	}
	if list, ok := v.([]any); ok && len(list) == 1 {
		return list[0]
	}
	return v
}

func TestAuthServerAccessLogIsRedacted(t *testing.T) {
	g := logged(t)
	b := harness.NewBrowser(t, g.ID)
	c := b.Authorize(authorizeURL(g, "web", "state", "state-canary"), username, password).Query().Get("code")
	g.Token(t, web, exchange(c, callback))
	all := lines(t, g, "id.log", 4)
	if raw, err := os.ReadFile(filepath.Join(g.Dir, "id.log")); err != nil || strings.Contains(string(raw), "state-canary") || strings.Contains(string(raw), c) {
		t.Errorf("a code or state is in the log: %v", err)
	}
	first, last := all[0], all[len(all)-1]
	for name, want := range map[string]any{"logger": "http.log.access.log0", "msg": "handled request", "level": "info", "status": 200.0, "user_id": ""} {
		if first[name] != want {
			t.Errorf("%s is %v, want %v", name, first[name], want)
		}
	}
	uri, _ := field(first, "request", "uri").(string)
	for _, part := range []string{"/authorize?", "client_id=web", "state=REDACTED", "redirect_uri=https%3A%2F%2Fclient.example%2Fcb", "scope=read", "code_challenge=REDACTED"} {
		if !strings.Contains(uri, part) {
			t.Errorf("%s is not in %s", part, uri)
		}
	}
	if field(first, "request", "method") != "GET" || field(first, "request", "client_ip") != "127.0.0.1" || field(first, "size").(float64) < 100 ||
		field(first, "duration").(float64) <= 0 || field(first, "uuid") == nil || field(first, "resp_headers", "Content-Type") == nil {
		t.Errorf("%v", first)
	}
	if field(last, "request", "headers", "Authorization") != "REDACTED" || field(last, "bytes_read").(float64) < 50 || field(last, "request", "uri") != "/token" {
		t.Errorf("%v", last)
	}
	var back any
	for _, l := range all {
		if to := field(l, "resp_headers", "Location"); to != nil {
			back = to
		}
		if cookie := field(l, "resp_headers", "Set-Cookie"); cookie != nil && cookie != "REDACTED" {
			t.Errorf("a cookie: %v", cookie)
		}
	}
	if want := "https://client.example/cb?code=REDACTED&state=REDACTED&iss=" + url.QueryEscape(g.ID); back != want && !strings.Contains(back.(string), "code=REDACTED") {
		t.Errorf("the last redirect was to %v", back)
	}
}

func TestSiteLogDirectiveIsHonored(t *testing.T) {
	t.Run("log_skip", func(t *testing.T) {
		g := logged(t, "$IDSITE", "log_skip /token")
		g.Token(t, web, url.Values{"grant_type": {"client_credentials"}})
		harness.Get(t, g.ID+"/.well-known/jwks.json")
		if all := lines(t, g, "id.log", 1); len(all) != 1 || field(all[0], "request", "uri") != "/.well-known/jwks.json" {
			t.Errorf("%v", all)
		}
	})
	t.Run("log_name", func(t *testing.T) {
		g := logged(t, "$IDSITE", "log_name named log0")
		harness.Get(t, g.ID+"/.well-known/jwks.json")
		for file, logger := range map[string]string{"id.log": "http.log.access.log0", "api.log": "http.log.access.named"} {
			if all := lines(t, g, file, 1); all[0]["logger"] != logger {
				t.Errorf("%s: %v", file, all)
			}
		}
	})
	t.Run("handle_path", func(t *testing.T) {
		text := strings.Replace(site, "http://$ID {\n\toauth_server\n", "http://$ID {\n\tlog {\n\t\toutput file $DIR/id.log\n\t}\n\thandle_path /deep/* {\n\t\toauth_server\n\t}\n", 1)
		g, _ := startSite(t, text)
		harness.Get(t, g.ID+"/deep/authorize?code=canary-code")
		if l := lines(t, g, "id.log", 1)[0]; field(l, "request", "uri") != "/deep/authorize?code=REDACTED" || l["status"] != 400.0 {
			t.Errorf("%v", l)
		}
	})
	t.Run("no log", func(t *testing.T) {
		g, _ := startSite(t, strings.Replace(site, "output discard", "output file $DIR/default.log", 1))
		harness.Get(t, g.ID+"/.well-known/jwks.json")
		for _, l := range lines(t, g, "default.log", 1) {
			if strings.HasPrefix(l["logger"].(string), "http.log.access") {
				t.Errorf("%v", l)
			}
		}
	})
}

// A browser that was refused for a token in the address goes on with asking for
// /favicon.ico, and says where it comes from.
func TestTokenInRefererIsNeitherLoggedNorForwarded(t *testing.T) {
	for _, errors := range []string{"api_errors", ""} {
		t.Run(errors, func(t *testing.T) {
			text := strings.Replace(site, "output discard", "output file $DIR/default.log\n\t\tlevel DEBUG", 1)
			text = strings.Replace(text, "http://$API {\n", "http://$API {\n\tlog named {\n\t\toutput file $DIR/api.log\n\t}\n", 1)
			text = strings.Replace(text, "api_errors", errors, 1)
			g, up := startSite(t, text)
			referer := func(path, page string) harness.Page {
				return harness.Send(t, http.DefaultClient, http.MethodGet, g.API+path, "", "Referer", page)
			}
			p := referer("/read?access_token=referer-canary", "")
			if p.Status != http.StatusBadRequest || p.Header.Get("Referrer-Policy") != "no-referrer" {
				t.Errorf("%d %v", p.Status, p.Header)
			}
			for path, status := range map[string]int{"/public": 200, "/read": 401, "/nowhere": 403} {
				for _, page := range []string{"?access_token=referer-canary", "?a=b&access%5Ftoken=referer-canary"} {
					if p := referer(path, g.API+"/read"+page); p.Status != status {
						t.Errorf("%s: %d %s", path, p.Status, p.Body)
					}
				}
			}
			hits := up.Hits()
			for _, r := range hits {
				if got := r.Header["Referer"]; got != nil {
					t.Errorf("the API saw %v", got)
				}
			}
			referer("/public", g.API+"/read?a=b")
			if others := up.Hits(); len(hits) != 2 || len(others) != 1 || others[0].Header.Get("Referer") != g.API+"/read?a=b" {
				t.Errorf("the API saw %v and %v", hits, others)
			}
			up.Answer(func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) })
			if p := referer("/public", g.API+"/read?access_token=referer-canary"); p.Status != http.StatusBadGateway {
				t.Errorf("%d %s", p.Status, p.Body)
			}
			all := lines(t, g, "api.log", 9)
			if l := all[8]; l["status"] != 502.0 || field(l, "request", "headers", "Referer") != "REDACTED" {
				t.Errorf("%v", l)
			}
			for _, name := range []string{"api.log", "default.log"} {
				if raw, err := os.ReadFile(filepath.Join(g.Dir, name)); err != nil || strings.Contains(string(raw), "referer-canary") {
					t.Errorf("%s: %v\n%s", name, err, raw)
				}
			}
		})
	}
}

func TestRefererTokenOfAuthenticatedRequestIsNotLogged(t *testing.T) { // S26
	text := site[:strings.Index(site, "http://$API {")] + "http://$API {\n\tlog named {\n\t\toutput file $DIR/api.log\n\t}\n\toauth_authentication\n\treverse_proxy $UPSTREAM\n}\n"
	g, up := startSite(t, text)
	access, _ := g.Token(t, machine, url.Values{"grant_type": {"client_credentials"}, "scope": {"read"}}).JSON(t)["access_token"].(string)
	page := "Referer: " + g.API + "/read?access_token=referer-canary"
	for credentials, status := range map[string]int{"Authorization: Bearer " + access: 200, "X-None: 1": 401} {
		if p := harness.Wire(t, g.API, "GET /read", credentials, page); p.Status != status {
			t.Errorf("%d %s", p.Status, p.Body)
		}
	}
	for _, hit := range wantHits(t, up, 1) {
		if got := hit.Header["Referer"]; got != nil {
			t.Errorf("the API saw %v", got)
		}
	}
	for _, l := range lines(t, g, "api.log", 2) {
		if field(l, "request", "headers", "Referer") != "REDACTED" {
			t.Errorf("%v", l)
		}
	}
}

func TestQueryTokenIsRedactedInTheGuardsLog(t *testing.T) {
	for _, mode := range []string{"", "shadow"} {
		t.Run(mode, func(t *testing.T) {
			g := logged(t, "$GUARD", mode)
			g.Call(t, http.MethodGet, "/read?access_token=query-canary&x=1", "")
			g.Call(t, http.MethodGet, "/public?x=1", "")
			all := lines(t, g, "api.log", 2)
			want := map[string]float64{"": 400, "shadow": 200}[mode]
			if field(all[0], "request", "uri") != "/read?access_token=REDACTED&REDACTED" || all[0]["status"] != want || all[0]["logger"] != "http.log.access.named" {
				t.Errorf("%v", all[0])
			}
			if field(all[1], "request", "uri") != "/public?x=1" || len(all) != 2 {
				t.Errorf("Caddy's own lines: %v", all[1:])
			}
		})
	}
}
