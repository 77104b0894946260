package cli

import (
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/gatehouse/gatehouse/internal/testkit/harness"
)

type verdict struct {
	Allowed bool   `json:"allowed"`
	Status  int    `json:"status"`
	Code    string `json:"code"`
	Path    string `json:"path"`
	Rule    int    `json:"rule"`
	Words   string `json:"words"`
	Shadow  bool   `json:"shadow"`
	Needs   *struct {
		Issuer, Audience string
		Scopes           []string
	} `json:"needs"`
}

type explanation struct {
	Server, Host, Then, Refused string
	Guards                      []verdict
	Notes                       []string
	Limits                      []struct {
		Policies   []string
		Kept, Name string
		OnOutage   string `json:"on_outage"`
	}
}

func explained(t *testing.T, g *harness.Gateway, words ...string) []explanation {
	t.Helper()
	r := program(t, "", append([]string{"gatehouse", "explain", "--format", "json"}, words...)...)
	if r.code != 0 {
		t.Fatalf("%v: %+v", words, r)
	}
	var all []explanation
	if err := json.Unmarshal([]byte(r.out), &all); err != nil {
		t.Fatalf("%v: %v: %s", words, err, r.out)
	}
	return all
}

// answered sends a request line as it is and returns the status.
func answered(t *testing.T, g *harness.Gateway, method, target, token string) int {
	t.Helper()
	var header []string
	if token != "" {
		header = append(header, "Authorization: Bearer "+token)
	}
	return harness.Wire(t, g.API, method+" "+target, header...).Status
}

// What explain says is what happens.
func TestExplainMatchesTheGuardsDecision(t *testing.T) {
	g := start(t)
	_, token := clientToken(t, g, machine) // scope read
	type request struct{ method, path string }
	var requests []request
	for _, path := range []string{
		"/read", "/read/7", "/READ/7", "/%72ead", "/read/", "/public", "/public/x", "/PUBLIC", "/none", "/", "/read/a%2fb", "/public/../read",
		"/public/%2e%2e/read", "//read", "/read%00", "/read;x=1", "/read/%252e", "/read\\x", "/read?access_token=x", "/read?a=b", "/r%C3%A4d", "/read/%ff", "/read%zz", "/read#x",
		"/read/What%3F", "/read%3F", "/read/..%3F",
	} {
		requests = append(requests, request{"GET", path})
	}
	for _, method := range []string{"POST", "HEAD", "PATCH", "OPTIONS", "TRACE", "get"} {
		requests = append(requests, request{method, "/read"})
	}
	for i, r := range requests {
		for _, scopes := range [][]string{nil, {"--scope", "read"}} {
			if i%3 != 0 && scopes == nil {
				continue // a program is started for each
			}
			bearer := token
			if scopes == nil {
				bearer = ""
			}
			words := append([]string{r.method, g.API + r.path, "--address", strings.TrimPrefix(g.Admin, "http://")}, scopes...)
			want := answered(t, g, r.method, r.path, bearer)
			all := explained(t, g, words...)
			if len(all) != 1 {
				t.Fatalf("%v: %+v", words, all)
			}
			got := http.StatusOK
			switch {
			case all[0].Refused != "":
				got = http.StatusBadRequest
			case len(all[0].Guards) != 1:
				t.Fatalf("%v: %+v", words, all)
			case !all[0].Guards[0].Allowed:
				got = all[0].Guards[0].Status
			}
			if got != want {
				t.Errorf("%v: explained as %d, and the answer is %d: %+v", words, got, want, all)
			}
		}
	}
}

func TestExplainNamesTheRuleAndNeededScopes(t *testing.T) {
	g := harness.Prepare(t, "$UPSTREAM", "localhost:1", "$GLOBAL", "", "$GUARD", "")
	file := g.WriteFile(t, "Caddyfile", g.Text(site)) // no gateway runs
	all := explained(t, g, "POST", g.API+"/%72ead/%7E", "--config", file, "--adapter", "caddyfile")
	if len(all) != 1 || len(all[0].Guards) != 1 {
		t.Fatalf("%+v", all)
	}
	v := all[0].Guards[0]
	if v.Rule != 3 || v.Words != "scope write POST,PUT,DELETE /read /read/*" || v.Path != "/read/~" || v.Status != 401 ||
		v.Needs == nil || v.Needs.Audience != "https://api.example" || v.Needs.Issuer != g.ID || fmt.Sprint(v.Needs.Scopes) != "[write]" {
		t.Errorf("%+v", v)
	}
	if v := explained(t, g, "POST", g.API+"/read", "--config", file, "--scope", "write")[0]; !v.Guards[0].Allowed || v.Then != "reverse_proxy" {
		t.Errorf("%+v", v)
	}
	if v := explained(t, g, "POST", g.API+"/read", "--config", file, "--scope", "")[0].Guards[0]; v.Status != 403 || v.Code != "insufficient_scope" {
		t.Errorf("%+v", v)
	}
	if v := explained(t, g, "GET", g.API+"/other", "--config", file, "--scope", "read")[0].Guards[0]; v.Status != 403 || v.Rule != 0 || v.Words != "otherwise deny" || v.Needs != nil {
		t.Errorf("%+v", v)
	}
	if v := explained(t, g, "GET", g.API+"/public/a%3fb", "--config", file)[0]; len(v.Notes) != 1 || !strings.Contains(v.Notes[0], "read /public/a;") {
		t.Errorf("%+v", v)
	}
	if v := explained(t, g, "GET", g.ID+"/authorize", "--config", file)[0]; v.Then != "oauth_server" || len(v.Guards) != 0 {
		t.Errorf("%+v", v)
	}
	out := program(t, "", "gatehouse", "explain", "GET", "/read/a%2fb", "--config", file)
	if out.code != 0 || !strings.Contains(out.out, "encoded slash") || !strings.Contains(out.out, strings.TrimPrefix(g.API, "http://localhost")) {
		t.Errorf("%+v", out)
	}
}

// Sites as people write them.
func TestExplainFindsTheGuardAnywhere(t *testing.T) {
	const head = `{
	gatehouse {
		issuer https://id.example.com/auth
		store bolt state.db
		scope read "Read"
		client machine {
			secret machine-secret-0123456789-0123456789-012345
			scopes read
		}
	}
}
`
	const guard = "oauth_guard {\n\tscope read /a /a/*\n}\n"
	for name, c := range map[string]struct {
		sites, method, url string
		want               string // rule and status of each guard, what answers, hosts
	}{
		"in a handle":                {"api.example.com {\n handle /a* {\n " + guard + " respond a\n }\n handle {\n respond b\n }\n}", "GET", "https://api.example.com/a", "1:401  @api.example.com"},
		"beside a handle":            {"api.example.com {\n handle /a* {\n " + guard + " respond a\n }\n handle {\n respond b\n }\n}", "GET", "https://api.example.com/b", "static_response @api.example.com"},
		"behind a stripped prefix":   {"api.example.com {\n handle_path /v1/* {\n " + guard + " respond a\n }\n}", "GET", "https://api.example.com/v1/a", "1:401  @api.example.com"},
		"behind a rewrite":           {"api.example.com {\n rewrite /x /a\n route {\n " + guard + "}\n respond a\n}", "GET", "https://api.example.com/x", "1:401  @api.example.com"},
		"with a matcher":             {"api.example.com {\n @m method POST\n oauth_guard @m {\n scope read /a\n }\n respond a\n}", "GET", "https://api.example.com/a", "static_response @api.example.com"},
		"with a matcher negated":     {"api.example.com {\n @m not path /a\n oauth_guard @m {\n scope read /a\n }\n respond a\n}", "GET", "https://api.example.com/b", "0:403  @api.example.com"},
		"with one nobody can decide": {"api.example.com {\n @m header X 1\n oauth_guard @m {\n scope read /a\n }\n respond a\n}", "GET", "https://api.example.com/a", "1:401  @api.example.com note"},
		"an answer before it":        {"api.example.com {\n route {\n respond /a hi\n " + guard + "}\n}", "GET", "https://api.example.com/a", "static_response @api.example.com"},
		"two, one behind the other":  {"api.example.com {\n route {\n oauth_guard {\n public /a\n }\n " + guard + "}\n}", "GET", "https://api.example.com/a", "1:0 1:401  @api.example.com"},
		"in the shadow":              {"api.example.com {\n oauth_guard {\n scope read /a\n shadow\n }\n respond a\n}", "GET", "https://api.example.com/a", "1:401s static_response @api.example.com"},
		"on a wildcard":              {"*.example.com {\n tls internal\n " + guard + "}", "GET", "https://b.example.com/a", "1:401  @b.example.com"},
		"on another port":            {"https://api.example.com:8443 {\n " + guard + "}", "GET", "https://api.example.com:8443/a", "1:401  @api.example.com:8443"},
		"in an invoked route":        {"&(g) {\n " + guard + "}\napi.example.com {\n invoke g\n respond a\n}", "GET", "https://api.example.com/a", "1:401  @api.example.com"},
		"by path on every site":      {"a.example.com, b.example.com {\n " + guard + "}\nc.example.com {\n respond x\n}", "GET", "/a", "1:401  @a.example.com | 1:401  @b.example.com"},
		"behind forward_auth":        {"api.example.com {\n route {\n forward_auth localhost:9 {\n uri /ask\n }\n " + guard + "}\n}", "GET", "https://api.example.com/a", "1:401  @api.example.com"},
		"only for https":             {"api.example.com {\n @s protocol https\n oauth_guard @s {\n scope read /a\n }\n respond a\n}", "GET", "https://api.example.com/a", "1:401  @api.example.com"},
		"only for http":              {"api.example.com {\n @s protocol http\n oauth_guard @s {\n scope read /a\n }\n respond a\n}", "GET", "https://api.example.com/a", "static_response @api.example.com"},
		"the guard's own metadata":   {"api.example.com {\n oauth_guard {\n audience https://api.example.com\n scope read /a\n }\n respond a\n}", "GET", "https://api.example.com/.well-known/oauth-protected-resource", "oauth_guard @api.example.com"},
		"the issuer's own paths":     {"id.example.com {\n route {\n oauth_server\n " + guard + " }\n}", "GET", "https://id.example.com/auth/token", "oauth_server @id.example.com"},
		"beside the issuer's paths":  {"id.example.com {\n route {\n oauth_server\n " + guard + " }\n}", "GET", "https://id.example.com/a", "1:401  @id.example.com"},
	} {
		t.Run(name, func(t *testing.T) {
			g := harness.Prepare(t)
			file := g.WriteFile(t, "Caddyfile", head+c.sites)
			var got []string
			for _, e := range explained(t, g, c.method, c.url, "--config", file) {
				var words []string
				for _, v := range e.Guards {
					word := fmt.Sprintf("%d:%d", v.Rule, v.Status)
					if v.Shadow {
						word += "s"
					}
					words = append(words, word)
				}
				words = append(words, e.Then, "@"+e.Host)
				if len(e.Notes) > 0 && strings.Contains(e.Notes[0], "assuming") {
					words = append(words, "note")
				}
				got = append(got, strings.Join(words, " "))
			}
			if all := strings.Join(got, " | "); all != c.want {
				t.Errorf("%s", all)
			}
		})
	}
}

func TestExplainNamesLimitsOnTheWay(t *testing.T) {
	g := harness.Prepare(t, "$UPSTREAM", "localhost:1", "$GLOBAL", "", "$GUARD", "")
	text := strings.Replace(site, "\treverse_proxy", `	gatehouse_health
	api_limit {
		client 1000 1h
		ip 100 90s dry_run
		by tenant {http.request.header.X-Tenant} 5 1d
		limiter api
	}
	reverse_proxy`, 1)
	file := g.WriteFile(t, "Caddyfile", g.Text(text))
	all := explained(t, g, "GET", g.API+"/public", "--config", file)
	if len(all) != 1 || len(all[0].Limits) != 1 {
		t.Fatalf("%+v", all)
	}
	l := all[0].Limits[0]
	if got := fmt.Sprint(l.Policies); got != "[client 1000 1h ip 100 1m30s dry_run by tenant {http.request.header.X-Tenant} 5 24h]" || l.Kept != "memory" || l.Name != "api" || l.OnOutage != "" {
		t.Errorf("%+v", l)
	}
	out := program(t, "", "gatehouse", "explain", "GET", g.API+"/public", "--config", file).out
	if !strings.Contains(out, "Limit:") || !strings.Contains(out, "client 1000 1h, ip 100 1m30s dry_run") || !strings.Contains(out, "(counted by memory)") {
		t.Error(out)
	}
	if all := explained(t, g, "GET", g.API+"/ready", "--config", file); all[0].Then != "gatehouse_health" || len(all[0].Guards) != 0 {
		t.Errorf("%+v", all)
	}
	if all := explained(t, g, "GET", g.API+"/other", "--config", file); len(all[0].Limits) != 0 {
		t.Errorf("behind a refusal: %+v", all)
	}
}

// S10: where ports are forwarded to those that Caddy listens on, clients use others.
func TestExplainShowsTheClientFacingAddress(t *testing.T) {
	file := filepath.Join(t.TempDir(), "Caddyfile")
	if err := os.WriteFile(file, []byte(`{
	https_port 8443
	gatehouse {
		issuer https://id.example
		scope read "Read"
	}
}
id.example {
	oauth_server
}
api.example {
	oauth_guard {
		scope read GET /read
	}
	respond hello
}
`), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, address := range []string{"/read", "https://api.example/read"} {
		r := program(t, "", "gatehouse", "explain", "GET", address, "--config", file)
		if r.code != 0 || !strings.Contains(r.out, "https://api.example (Caddy listens on :8443)") {
			t.Errorf("%s: %+v", address, r)
		}
	}
	if r := program(t, "", "gatehouse", "explain", "GET", "https://none.example:444/", "--config", file); r.code == 0 || !strings.Contains(r.err, "https://id.example (Caddy listens on :8443)") {
		t.Errorf("%+v", r)
	}
}
