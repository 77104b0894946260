package cli

import (
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/gatehouse/gatehouse/internal/testkit/harness"
)

// authRequestConfig serves the API with the lines of the recipes.
const authRequestConfig = `daemon off;
master_process off;
pid $DIR/nginx.pid;
error_log stderr;
events {}
http {
	access_log off;
	client_body_temp_path $DIR/body;
	proxy_temp_path $DIR/proxy;
	fastcgi_temp_path $DIR/fastcgi;
	uwsgi_temp_path $DIR/uwsgi;
	scgi_temp_path $DIR/scgi;
	$HTTP
	server {
		listen 127.0.0.1:$FRONT;
		$SERVER
	}
}
`

// recipe is a block of the page with the recipes.
func recipe(t *testing.T, section, language string, nth int) string {
	t.Helper()
	return harness.PageLines(t, "deploy/recipes.md", section, language, nth)
}

// front is a server of somebody else's in front of an API.
type front struct {
	t       *testing.T
	address string
	api     *harness.Upstream
	out     harness.Output
}

// startFront starts a program that listens on a port, and waits until it does.
func startFront(t *testing.T, port int, api *harness.Upstream, program string, args ...string) *front {
	t.Helper()
	f := &front{t: t, address: fmt.Sprintf("127.0.0.1:%d", port), api: api}
	cmd := exec.Command(program, args...)
	cmd.Stdout, cmd.Stderr = &f.out, &f.out
	cmd.Env = append(os.Environ(), "HOME="+t.TempDir())
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	ended := make(chan struct{})
	go func() { defer close(ended); _ = cmd.Wait() }()
	t.Cleanup(func() { _ = cmd.Process.Kill(); <-ended })
	for deadline := time.Now().Add(30 * time.Second); ; time.Sleep(10 * time.Millisecond) {
		if c, err := net.Dial("tcp", f.address); err == nil {
			_ = c.Close()
			return f
		}
		select {
		case <-ended:
			t.Fatalf("%s ended: %s", program, &f.out)
		default:
		}
		if time.Now().After(deadline) {
			t.Fatalf("%s does not answer: %s", program, &f.out)
		}
	}
}

// startAuthRequest starts nginx with these lines in its http and server blocks.
func startAuthRequest(t *testing.T, g *harness.Gateway, api *harness.Upstream, inHTTP, inServer string) *front {
	t.Helper()
	if _, err := os.Stat(nginxProgram); err != nil {
		t.Fatal("nginx is not installed: run ./xcaddy.sh test in the top folder, which does that first: ", err)
	}
	port := harness.FreePorts(t, 1)[0]
	file := g.WriteFile(t, "nginx.conf", strings.NewReplacer("$DIR", g.Dir, "$FRONT", fmt.Sprint(port), "$HTTP", inHTTP, "$SERVER", inServer).Replace(authRequestConfig))
	return startFront(t, port, api, nginxProgram, "-e", "stderr", "-p", g.Dir, "-c", file)
}

// overriding are fields with which some APIs run another method or path than that of the request.
var overriding = []string{"X-HTTP-Method-Override", "DELETE", "X-HTTP-Method", "DELETE", "X-Method-Override", "DELETE", "X-Original-URL", "/admin", "X-Rewrite-URL", "/admin"}

// posing are fields of a client that claims to be somebody else.
var posing = []string{"X-Auth-Subject", "admin", "x-auth-client", "admin", "X-Auth-Scopes", "read write admin"}

// wantOtherSpellingsUnheard checks that no name which some server takes for one of these fields' reaches the API with them.
func (f *front) wantOtherSpellingsUnheard(uri, token, subject, client, scopes string) {
	f.t.Helper()
	fields := slices.Concat(overriding, posing)
	for n := range harness.Spellings("") {
		var spelt []string
		for i := 0; i < len(fields); i += 2 {
			spelt = append(spelt, harness.Spellings(fields[i])[n], fields[i+1])
		}
		if p := f.ask("GET", uri, token, spelt...); p.Status != http.StatusOK {
			f.t.Fatalf("S23 %v: %d %s", spelt, p.Status, p.Body)
		}
		f.wantIdentity(uri, subject, client, scopes)
	}
}

// ask sends a request as a client would that claims to be somebody else, and to make another request.
func (f *front) ask(method, path, token string, header ...string) harness.Page {
	f.t.Helper()
	header = slices.Concat(overriding, header, posing)
	if token != "" {
		header = append(header, "Authorization", "Bearer "+token)
	}
	return harness.Send(f.t, harness.NewBrowser(f.t, "").Client, method, "http://"+f.address+path, "", header...)
}

// wantIdentity checks that one request reached the API, and whose it was there.
func (f *front) wantIdentity(uri, subject, client, scopes string) {
	f.t.Helper()
	hits := f.api.Hits()
	if len(hits) != 1 || hits[0].RequestURI != uri {
		f.t.Fatalf("S23 the API saw %v, want %s", hits, uri)
	}
	want := map[string]string{"X-Auth-Subject": subject, "X-Auth-Client": client, "X-Auth-Scopes": scopes, "Authorization": ""}
	for i := 0; i < len(overriding); i += 2 {
		want[overriding[i]] = ""
	}
	variables := make(map[string][]string)
	for name, values := range hits[0].Header {
		variables[harness.Variable(name)] = append(variables[harness.Variable(name)], values...)
	}
	for name, want := range want {
		if got := strings.Join(variables[harness.Variable(name)], "|"); got != want {
			f.t.Errorf("S23 the API saw %s %q, want %q", name, got, want)
		}
	}
}

// wantRefused checks an answer of which the API must know nothing.
func (f *front) wantRefused(p harness.Page, status int, challenge string) {
	f.t.Helper()
	if p.Status != status || !strings.Contains(p.Header.Get("Www-Authenticate"), challenge) {
		f.t.Errorf("S23 refused with %d %v, want %d and %q", p.Status, p.Header, status, challenge)
	}
	if hits := f.api.Hits(); len(hits) != 0 {
		f.t.Errorf("S23 a refused request reached the API: %v", hits)
	}
}

// wantRevoked revokes a token, which must be refused within a second. A busy machine gets more.
func (f *front) wantRevoked(g *harness.Gateway, path, token string) {
	f.t.Helper()
	form := strings.NewReader("token=" + token)
	r, err := http.NewRequest(http.MethodPost, g.ID+"/revoke", form)
	if err != nil {
		f.t.Fatal(err)
	}
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	r.SetBasicAuth(web.ID, web.Secret)
	if p := harness.Do(f.t, http.DefaultClient, r); p.Status != http.StatusOK {
		f.t.Fatalf("revoke: %d %s", p.Status, p.Body)
	}
	for deadline := time.Now().Add(10 * time.Second); ; time.Sleep(10 * time.Millisecond) {
		p := f.ask("GET", path, token)
		if p.Status == http.StatusUnauthorized {
			f.api.Hits()
			f.wantRefused(p, http.StatusUnauthorized, `error="invalid_token"`)
			return
		}
		if time.Now().After(deadline) {
			f.t.Fatalf("S23 a revoked token is answered %d", p.Status)
		}
	}
}

// local has a name of this machine resolved to the address that a gateway listens on.
func local(site string) string {
	return strings.Replace(strings.TrimPrefix(site, "http://"), "localhost", "127.0.0.1", 1)
}

// S23: nginx keeps the API and asks a guard, with the lines of the recipe.
func TestNginxAuthRequestAsksAGuard(t *testing.T) {
	const section = "nginx: auth_request and a guard"
	guard := strings.Replace(recipe(t, section, "caddyfile", 1), ":8090 {", "http://$API {", 1)
	api := harness.NewUpstream(t)
	g := startSite(t, site[:strings.Index(site, "http://$API {")]+guard+"\n")
	// The site answers to its name only, unlike the recipe's.
	lines := regexp.MustCompile(`proxy_pass http://10\.0\.0\.11:8090[^;]*;`).ReplaceAllString(recipe(t, section, "nginx", 1), "$0\n\tproxy_set_header Host "+strings.TrimPrefix(g.API, "http://")+";")
	lines = strings.NewReplacer("10.0.0.20:9000", api.Addr, "10.0.0.11:8090", local(g.API)).Replace(lines)
	f := startAuthRequest(t, g, api, "", lines)
	_, access := clientToken(t, g, machine) // scope read
	if p := f.ask("GET", "/read/1?x=1", access); p.Status != http.StatusOK {
		t.Errorf("S23 a valid token: %d %s %s", p.Status, p.Body, &f.out)
	}
	f.wantIdentity("/read/1?x=1", "client:machine", "machine", "read")
	f.wantOtherSpellingsUnheard("/read", access, "client:machine", "machine", "read")
	if p := f.ask("GET", "/public", ""); p.Status != http.StatusOK {
		t.Errorf("S23 a public path: %d", p.Status)
	}
	f.wantIdentity("/public", "", "", "")
	for range 70 { // never 429, of which nginx makes 500
		f.wantRefused(f.ask("GET", "/read", "x.y.z"), http.StatusUnauthorized, "Bearer ")
	}
	for _, c := range []struct {
		method, path, token string
		want                int
	}{{"GET", "/read", "", 401}, {"POST", "/read", access, 403}, {"GET", "/else", access, 403}} {
		f.wantRefused(f.ask(c.method, c.path, c.token), c.want, "")
	}
	mine, id := userToken(t, g)
	if p := f.ask("GET", "/read", mine); p.Status != http.StatusOK {
		t.Errorf("S23 a user's token: %d", p.Status)
	}
	f.wantIdentity("/read", id, "web", "read")
	f.wantRevoked(g, "/read", mine)
	f.wantNoAnswerOfTheGuardAtTheAPI()
}

// N01: a guard with decision_only is safe to ask about every path, without a location for those that it
// would answer itself.
func TestNginxAuthRequestAsksADecisionOnlyGuard(t *testing.T) {
	const section = "nginx: auth_request and a guard"
	guard := strings.Replace(recipe(t, section, "caddyfile", 1), ":8090 {", "http://$API {", 1)
	guard = strings.Replace(guard, "oauth_guard {", "oauth_guard {\n\t\tdecision_only", 1)
	api := harness.NewUpstream(t)
	g := startSite(t, site[:strings.Index(site, "http://$API {")]+guard+"\n")
	lines, _, _ := strings.Cut(recipe(t, section, "nginx", 1), "location ^~ /.well-known")
	lines = strings.NewReplacer("10.0.0.20:9000", api.Addr, "proxy_pass http://10.0.0.11:8090$request_uri;",
		"proxy_pass http://"+local(g.API)+"$request_uri;\n\tproxy_set_header Host "+strings.TrimPrefix(g.API, "http://")+";").Replace(lines)
	f := startAuthRequest(t, g, api, "", lines)
	_, access := clientToken(t, g, machine)
	if p := f.ask("GET", "/read/1?x=1", access); p.Status != http.StatusOK {
		t.Errorf("S23 a valid token: %d %s %s", p.Status, p.Body, &f.out)
	}
	f.wantIdentity("/read/1?x=1", "client:machine", "machine", "read")
	if p := f.ask("GET", "/read", ""); p.Status != http.StatusUnauthorized || strings.Contains(p.Header.Get("Www-Authenticate"), "resource_metadata") {
		t.Errorf("N01 a challenge names metadata that nobody publishes: %d %v", p.Status, p.Header)
	}
	for _, token := range []string{"", access} {
		f.wantNothingUndeclaredAtTheAPI(token)
	}
}

// wantNothingUndeclaredAtTheAPI checks N01: what no rule permits does not reach the API.
func (f *front) wantNothingUndeclaredAtTheAPI(token string) {
	f.t.Helper()
	f.api.Hits()
	const document, query = "/.well-known/oauth-protected-resource", "?act=del&aid=7"
	for _, path := range []string{document, document + "/", document + "/x", "/./" + document[1:], "/%2ewell-known/oauth-protected-resource", "/read", "/public", "/else"} {
		for _, method := range []string{"GET", "HEAD", "POST", "OPTIONS"} {
			if !strings.Contains(path, "well-known") && method != "OPTIONS" {
				continue // a rule may permit it
			}
			if p := f.ask(method, path+query, token, "Origin", "https://app.example", "Access-Control-Request-Method", "GET"); p.Status < 400 {
				f.t.Errorf("N01 %s %s: %d", method, path, p.Status)
			}
		}
	}
	if h := f.api.Hits(); len(h) != 0 {
		f.t.Errorf("N01 the API saw what no rule permits: %v", h)
	}
}

// wantNoAnswerOfTheGuardAtTheAPI checks N01: what the guard answers itself is no permission. An
// API that dispatches by query alone would act on it.
func (f *front) wantNoAnswerOfTheGuardAtTheAPI() {
	f.t.Helper()
	f.api.Hits()
	const document, query = "/.well-known/oauth-protected-resource", "?act=del&aid=7"
	if p := f.ask("GET", document+query, ""); !strings.Contains(p.Body, `"authorization_servers"`) {
		f.t.Errorf("N01 the metadata: %d %s", p.Status, p.Body)
	}
	for _, path := range []string{document, document + "/", document + "/x", "/./" + document[1:], "/%2ewell-known/oauth-protected-resource"} {
		for _, method := range []string{"GET", "HEAD", "POST", "OPTIONS"} {
			f.ask(method, path+query, "")
		}
	}
	for _, path := range []string{"/read", "/public", "/else", document} {
		p := harness.Send(f.t, harness.NewBrowser(f.t, "").Client, "OPTIONS", "http://"+f.address+path+query, "",
			"Origin", "https://app.example", "Access-Control-Request-Method", "GET")
		if path != document && p.Status != http.StatusForbidden {
			f.t.Errorf("N01 a preflight of %s: %d", path, p.Status)
		}
	}
	if h := f.api.Hits(); len(h) != 0 {
		f.t.Errorf("N01 the API saw what the guard answered: %v", h)
	}
}

// S23: nginx asks the introspection endpoint, as a client that is answered by status.
func TestNginxAuthRequestAsksIntrospection(t *testing.T) {
	const section = "nginx: auth_request and the introspection endpoint"
	api := harness.NewUpstream(t)
	clients := strings.ReplaceAll(recipe(t, section, "caddyfile", 1), "\n\t", "\n")
	clients = clients[strings.Index(clients, "\tclient nginx"):strings.LastIndex(clients, "}")]
	clients = clients[:strings.LastIndex(clients, "}")]
	g := startSite(t, site, "$GLOBAL", clients+`
		client wrong {
			secret wrong-secret-0123456789-0123456789-01234567
			audience https://other.example
			grants client_credentials
			scopes read
		}`)
	lines := strings.NewReplacer("10.0.0.20:9000", api.Addr, "https://id.example.com", "http://"+local(g.ID)).Replace(recipe(t, section, "nginx", 2))
	lines = strings.Replace(lines, "proxy_method POST;", "proxy_method POST;\n\tproxy_set_header Host "+strings.TrimPrefix(g.ID, "http://")+";", 1)
	f := startAuthRequest(t, g, api, recipe(t, section, "nginx", 1), lines)
	mine, id := userToken(t, g)
	if p := f.ask("GET", "/a?x=1", mine); p.Status != http.StatusOK {
		t.Fatalf("S23 a valid token: %d %s %s", p.Status, p.Body, &f.out)
	}
	f.wantIdentity("/a?x=1", id, "web", "read")
	_, own := clientToken(t, g, machine)
	if p := f.ask("GET", "/a", own); p.Status != http.StatusOK {
		t.Errorf("S23 a client's own token: %d", p.Status)
	}
	f.wantIdentity("/a", "client:machine", "machine", "read")
	f.wantOtherSpellingsUnheard("/a", own, "client:machine", "machine", "read")
	f.wantRefused(f.ask("GET", "/a", ""), http.StatusUnauthorized, `Bearer realm="https://api.example"`)
	f.wantRefused(f.ask("POST", "/a", mine), http.StatusForbidden, "")
	_, elsewhere := clientToken(t, g, harness.Credentials{ID: "wrong", Secret: "wrong-secret-0123456789-0123456789-01234567"})
	for _, token := range []string{elsewhere, "x.y.z", mine + "&scope=read", mine + "%26scope=read", mine + "x", strings.Repeat("a", 3000)} {
		f.wantRefused(f.ask("GET", "/a", token), http.StatusUnauthorized, "Bearer ")
	}
	// A token cannot say itself which scope is needed.
	f.wantRefused(f.ask("POST", "/a", mine+"&scope=read"), http.StatusUnauthorized, "Bearer ")
	for range 70 { // never 429, of which nginx makes 500
		f.wantRefused(f.ask("GET", "/a", "x.y.z"), http.StatusUnauthorized, "Bearer ")
	}
	f.wantRefused(f.ask("GET", "/_gatehouse", mine), http.StatusNotFound, "") // internal
	f.wantRevoked(g, "/a", mine)
}

// userToken is an access token of a user with the scope read, and the user's id.
func userToken(t *testing.T, g *harness.Gateway) (access, id string) {
	t.Helper()
	id = addUser(t, g)
	access, _ = granted(t, g, harness.NewBrowser(t, g.ID), "alice")
	return access, id
}
