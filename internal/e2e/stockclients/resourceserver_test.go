package stockclients

import (
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"testing"

	"github.com/gatehouse/gatehouse/internal/testkit/harness"
)

// resourceServer is the section with the recipe for Apache, and the file that another one has, too.
const resourceServer = "Apache: mod_auth_openidc as a resource server"

// recipe is a block of the page with the recipes, with the addresses and files of a test.
func recipe(t *testing.T, section, language string, pairs ...string) string {
	t.Helper()
	return strings.NewReplacer(append(pairs, "/etc/apache2/", "$DIR/")...).Replace(harness.PageLines(t, "deploy/recipes.md", section, language, 1))
}

// clientsOf are the clients in a recipe's global option.
func clientsOf(t *testing.T, section string, pairs ...string) string {
	t.Helper()
	lines := recipe(t, section, "caddyfile", pairs...)
	lines = lines[strings.Index(lines, "client "):strings.LastIndex(lines, "}")]
	return lines[:strings.LastIndex(lines, "}")]
}

// protected is an API behind Apache.
type protected struct {
	t       *testing.T
	address string
	api     *harness.Upstream
	apache  *apache
}

// forged are headers of a client that claims to be somebody else: those that the recipe sets
// and those of mod_auth_openidc.
func forged(names ...string) (header []string) {
	for _, name := range append(names, "OIDC-CLAIM-sub") {
		header = append(header, name, "admin")
	}
	return header
}

// odd are fields that some APIs take for others, and some that would have Apache remove or overlook such fields.
func odd() (all [][]string) {
	for _, name := range harness.Spellings("X-Auth-Subject") {
		all = append(all, []string{name, "admin"})
	}
	for _, name := range harness.Spellings("X-HTTP-Method-Override") {
		all = append(all, []string{name, "DELETE"})
	}
	return append(all, []string{"OIDC_CLAIM_sub", "admin"}, []string{"x_auth_client", "admin"}, []string{"X-AUTH_SCOPES", ""},
		[]string{"X_Auth_Subject", "admin", "X_Last", ""}, []string{"Connection", "x-auth-subject"})
}

func (a *protected) ask(method, path, token string, header ...string) harness.Page {
	a.t.Helper()
	header = append(header, forged("X-Auth-Subject", "X-Auth-Client", "X-Auth-Scopes")...)
	if token != "" {
		header = append(header, "Authorization", "Bearer "+token)
	}
	return harness.Send(a.t, harness.NewBrowser(a.t, "").Client, method, a.address+path, "", header...)
}

// wantIdentity checks that one request reached the API, and what it said of its caller.
func (a *protected) wantIdentity(uri string, want map[string]string) *http.Request {
	a.t.Helper()
	hits := a.api.Hits()
	if len(hits) != 1 || hits[0].RequestURI != uri {
		a.t.Fatalf("S23 the API saw %v, want %s\n%s", hits, uri, a.apache.log())
	}
	for name, values := range hits[0].Header {
		plain := strings.TrimPrefix(harness.Variable(name), "HTTP_")
		if !strings.HasPrefix(plain, "X_AUTH") && !strings.HasPrefix(plain, "OIDC") && plain != "AUTHORIZATION" {
			continue
		}
		if got := strings.Join(values, "|"); got != want[name] {
			a.t.Errorf("S23 the API saw %s %q, want %q", name, got, want[name])
		}
	}
	for name, value := range want {
		if got := hits[0].Header.Get(name); got != value {
			a.t.Errorf("S23 the API saw %s %q, want %q", name, got, value)
		}
	}
	return hits[0]
}

func (a *protected) wantRefused(p harness.Page, status int, challenge string) {
	a.t.Helper()
	if p.Status != status || !strings.Contains(p.Header.Get("Www-Authenticate"), challenge) {
		a.t.Errorf("S23 refused with %d %v, want %d and %q\n%s", p.Status, p.Header, status, challenge, a.apache.log())
	}
	if hits := a.api.Hits(); len(hits) != 0 {
		a.t.Errorf("S23 a refused request reached the API: %v", hits)
	}
}

// S23: Apache as a resource server, with the lines of the recipe.
func TestApacheResourceServerAcceptsOurTokens(t *testing.T) {
	g := begin(t, clientsOf(t, resourceServer)+`
		scope write "Write"
		client web {
			secret `+webSecret+`
			redirect_uri `+openidTo+`
			scopes openid read write
		}
		client elsewhere {
			secret `+webSecret+`
			audience https://other.example
			grants client_credentials
			scopes read
		}`)
	port := harness.FreePorts(t, 1)[0]
	api := harness.NewUpstream(t)
	a := &protected{t: t, address: "http://localhost:" + strconv.Itoa(port), api: api,
		apache: startApache(t, port, recipe(t, resourceServer, "apache", "https://id.example.com", g.ID, "10.0.0.20:9000", api.Addr))}
	web := harness.Credentials{ID: "web", Secret: webSecret}
	tokens := signIn(t, g, web, "openid read")
	if p := a.ask("GET", "/a?x=1", tokens["access_token"]); p.Status != http.StatusOK {
		t.Fatalf("S23 a valid token: %d %s\n%s", p.Status, p.Body, a.apache.log())
	}
	alice := map[string]string{"X-Auth-Subject": "u-1", "X-Auth-Client": "web", "X-Auth-Scopes": "openid read"}
	a.wantIdentity("/a?x=1", alice)
	for _, fields := range odd() {
		a.wantRefused(a.ask("GET", "/a", tokens["access_token"], fields...), http.StatusForbidden, "")
	}
	for _, name := range []string{"X-HTTP-Method-Override", "X-HTTP-Method", "x-method-override", "X-Original-URL", "X-Rewrite-URL"} {
		a.ask("GET", "/a", tokens["access_token"], name, "DELETE")
		if got := a.wantIdentity("/a", alice).Header.Get(name); got != "" {
			t.Errorf("S23 the API saw %s %s", name, got)
		}
	}
	api.Answer(harness.PHPVariables(t))
	php := a.ask("GET", "/a", tokens["access_token"], "X-HTTP-Method-Override", "DELETE").JSON(t)
	if php["HTTP_X_AUTH_SUBJECT"] != "u-1" || php["HTTP_X_HTTP_METHOD_OVERRIDE"] != nil {
		t.Errorf("S23 PHP saw %v", php)
	}
	api.Answer(nil)
	a.wantIdentity("/a", alice)
	a.wantRefused(a.ask("GET", "/a", ""), http.StatusUnauthorized, "Bearer")
	a.wantRefused(a.ask("GET", "/a", "x.y.z"), http.StatusUnauthorized, `error="invalid_token"`)
	a.wantRefused(a.ask("GET", "/a?access_token="+tokens["access_token"], ""), http.StatusUnauthorized, "Bearer")
	for _, method := range []string{"POST", "DELETE", "PUT"} {
		a.wantRefused(a.ask(method, "/a", tokens["access_token"], "X-HTTP-Method-Override", "GET"), http.StatusForbidden, "")
	}
	a.wantRefused(a.ask("GET", "/a", tokens["id_token"]), http.StatusUnauthorized, "Bearer")
	a.wantRefused(a.ask("GET", "/a", tokens["refresh_token"]), http.StatusUnauthorized, "Bearer")
	p := g.Token(t, harness.Credentials{ID: "elsewhere", Secret: webSecret}, url.Values{"grant_type": {"client_credentials"}, "scope": {"read"}})
	elsewhere, _ := p.JSON(t)["access_token"].(string)
	a.wantRefused(a.ask("GET", "/a", elsewhere), http.StatusUnauthorized, "Bearer")
	all := signIn(t, g, web, "openid read write")
	if p := a.ask("POST", "/a", all["access_token"]); p.Status != http.StatusOK {
		t.Fatalf("S23 a token with the scope: %d %s\n%s", p.Status, p.Body, a.apache.log())
	}
	alice["X-Auth-Scopes"] = "openid read write"
	a.wantIdentity("/a", alice)

	// At once: each token is asked about each time.
	r := strings.NewReader("token=" + all["access_token"])
	revoke, err := http.NewRequest(http.MethodPost, g.ID+"/revoke", r)
	if err != nil {
		t.Fatal(err)
	}
	revoke.SetBasicAuth(web.ID, web.Secret)
	revoke.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	if p := harness.Do(t, http.DefaultClient, revoke); p.Status != http.StatusOK {
		t.Fatalf("%d %s", p.Status, p.Body)
	}
	a.wantRefused(a.ask("GET", "/a", all["access_token"]), http.StatusUnauthorized, `error="invalid_token"`)

	// No answer is no admission.
	g.Load(t, "{\n"+harness.Quiet+"\n}\n")
	if p := a.ask("GET", "/a", tokens["access_token"]); p.Status < 400 || len(a.api.Hits()) != 0 {
		t.Errorf("S23 while the gateway is away: %d %s", p.Status, p.Body)
	}
}
