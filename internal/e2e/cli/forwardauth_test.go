package cli

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/gatehouse/gatehouse/internal/testkit/harness"
)

// S23: another Caddy keeps the API and asks a guard, with the lines of the recipe.
func TestCaddyForwardAuthAsksAGuard(t *testing.T) {
	const section = "Caddy: forward_auth"
	api := harness.NewUpstream(t)
	guard := strings.Replace(recipe(t, section, "caddyfile", 1), ":8090 {", "http://$API {", 1)
	g := startSite(t, site[:strings.Index(site, "http://$API {")]+guard+"\n")
	port := harness.FreePorts(t, 1)[0]
	lines := strings.NewReplacer("api.example.com {", fmt.Sprintf("http://127.0.0.1:%d {", port), "10.0.0.20:9000", api.Addr,
		"10.0.0.11:8090 {", local(g.API)+" {\n\t\t\theader_up Host "+strings.TrimPrefix(g.API, "http://")).Replace(recipe(t, section, "caddyfile", 2))
	file := g.WriteFile(t, "front.caddyfile", "{\n\tadmin off\n\tauto_https off\n}\n"+lines+"\n")
	f := startFront(t, port, api, harness.Program(t), "run", "--adapter", "caddyfile", "--config", file)

	mine, id := userToken(t, g)
	for _, c := range []struct {
		method string
		header []string
	}{
		{"GET", nil},
		{"HEAD", nil},
		{"GET", []string{"Connection", "X-Auth-Subject, X-Auth-Client, X-Auth-Scopes"}}, // nobody's identity is somebody's too
		{"GET", []string{"X-Forwarded-Method", "POST", "X-Forwarded-Uri", "/rules/write"}},
		{"GET", []string{"Content-Type", "text/plain", "Content-Length", "0"}},
	} {
		if p := f.ask(c.method, "/read/1?x=1", mine, c.header...); p.Status != http.StatusOK {
			t.Fatalf("S23 %v: %d %s %s", c, p.Status, p.Body, &f.out)
		}
		f.wantIdentity("/read/1?x=1", id, "web", "read")
	}
	_, own := clientToken(t, g, machine)
	if p := f.ask("GET", "/read", own); p.Status != http.StatusOK {
		t.Errorf("S23 a client's own token: %d", p.Status)
	}
	f.wantIdentity("/read", "client:machine", "machine", "read")
	f.wantOtherSpellingsUnheard("/read", own, "client:machine", "machine", "read")
	api.Answer(harness.PHPVariables(t))
	php := f.ask("GET", "/read", own, "X.Auth.Subject", "admin", "X.HTTP.Method.Override", "DELETE").JSON(t)
	if php["HTTP_X_AUTH_SUBJECT"] != "client:machine" || php["HTTP_X_HTTP_METHOD_OVERRIDE"] != nil {
		t.Errorf("S23 PHP saw %v", php)
	}
	api.Answer(nil)
	f.wantIdentity("/read", "client:machine", "machine", "read")

	f.wantRefused(f.ask("GET", "/read", ""), http.StatusUnauthorized, `Bearer realm="https://api.example", scope="read"`)
	f.wantRefused(f.ask("POST", "/read", ""), http.StatusUnauthorized, `scope="write"`)
	f.wantRefused(f.ask("GET", "/read", "x.y.z"), http.StatusUnauthorized, `error="invalid_token"`)
	// What the client says of method and path has no effect.
	for _, method := range []string{"POST", "DELETE", "PROPFIND", "get", "OPTIONS"} {
		for _, header := range [][]string{nil, {"X-Forwarded-Method", "GET"}, {"X-HTTP-Method-Override", "GET"}, {"X-Forwarded-Uri", "/rules/read"}, {"X-Original-URL", "/rules/read"}} {
			f.wantRefused(f.ask(method, "/rules/read", mine, header...), http.StatusForbidden, `error="insufficient_scope"`)
		}
	}
	f.wantRevoked(g, "/read", mine)
}
