package gateway

import (
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/gatehouse/gatehouse/internal/testkit/harness"
)

// A client that knows the API alone finds its way to the authorization server (RFC 9728):
// from the challenge to the metadata of the resource, and on to that of the server.
func TestRefusalLeadsToTheAuthorizationServer(t *testing.T) {
	g, _ := start(t)
	refused := g.Call(t, http.MethodGet, "/read", "")
	const where = `resource_metadata="https://api.example/.well-known/oauth-protected-resource"`
	if got := refused.Header.Get("WWW-Authenticate"); refused.Status != http.StatusUnauthorized || !strings.HasSuffix(got, `, scope="read", `+where) {
		t.Fatalf("%d %q", refused.Status, got)
	}
	p := g.Call(t, http.MethodGet, "/.well-known/oauth-protected-resource", "")
	m := p.JSON(t)
	servers, _ := m["authorization_servers"].([]any)
	if m["resource"] != "https://api.example" || len(servers) != 1 || servers[0] != g.ID {
		t.Errorf("%s", p.Body)
	}
	if p.Header.Get("Access-Control-Allow-Origin") != "*" || p.Header.Get("ETag") == "" {
		t.Errorf("%v", p.Header)
	}
	if status, body := harness.Get(t, servers[0].(string)+"/.well-known/oauth-authorization-server"); status != http.StatusOK || !strings.Contains(body, `"issuer":"`+g.ID+`"`) {
		t.Errorf("%d %s", status, body)
	}
	// It is no way around the guard, however it is asked for.
	for _, path := range []string{"/.well-known/oauth-protected-resource/../../read", "/.well-known/oauth-protected-resource/..%2f..%2fread", "/.well-known/oauth-protected-resource//read"} {
		if p := g.Call(t, http.MethodGet, path, ""); p.Status == http.StatusOK {
			t.Errorf("%s: %d %s", path, p.Status, p.Body)
		}
	}
	if p := g.Call(t, http.MethodPost, "/.well-known/oauth-protected-resource", ""); p.Status == http.StatusOK {
		t.Errorf("POST: %d %s", p.Status, p.Body)
	}
}

// S20: a client that knows one path of the API asks below the well-known path for it, and probes
// for documents that there are not.
func TestResourceMetadataIsFoundForAnyPath(t *testing.T) {
	g, up := start(t, "$GLOBAL", "scope secret \"Hidden\" {\n\t\t\thidden\n\t\t}", "$GUARD", "scope secret * /hidden")
	document := g.Call(t, http.MethodGet, "/.well-known/oauth-protected-resource", "")
	for path, resource := range map[string]string{
		"": "https://api.example", "/": "https://api.example", "/mcp": "https://api.example/mcp", "/mcp/": "https://api.example/mcp/", "/read/7": "https://api.example/read/7",
	} {
		p := g.Call(t, http.MethodGet, "/.well-known/oauth-protected-resource"+path, "")
		if p.Status != http.StatusOK || p.JSON(t)["resource"] != resource || strings.Replace(p.Body, resource, "https://api.example", 1) != document.Body {
			t.Errorf("S20 %s: %d %s", path, p.Status, p.Body)
		}
		// What it names can be asked for; the token is for the API.
		access, _ := wantTokens(t, g.Token(t, machine, with(credentialsForm, "resource", resource)))
		if aud := fmt.Sprint(claimsOf(t, access)["aud"]); !strings.HasSuffix(strings.Trim(aud, "[]"), "api.example") {
			t.Errorf("S20 resource %s: aud %s", resource, aud)
		}
	}
	for _, path := range []string{"/.well-known/openid-configuration", "/.well-known/oauth-authorization-server/mcp", "/.well-known/x", "/.well-known/oauth-protected-resourcex"} {
		wantEnvelope(t, g.Call(t, http.MethodGet, path, ""), http.StatusNotFound, "not_found")
	}
	if h := g.Call(t, http.MethodGet, "/hidden", "").Header.Get("Www-Authenticate"); strings.Contains(h, "secret") || !strings.HasPrefix(h, "Bearer ") {
		t.Errorf("S20 a hidden scope: %s", h)
	}
	p := send(t, harness.NewBrowser(t, ""), http.MethodOptions, g.API+"/.well-known/oauth-protected-resource/mcp", "",
		"Origin", "https://anywhere.example", "Access-Control-Request-Method", "GET", "Access-Control-Request-Headers", "mcp-protocol-version")
	if p.Status != http.StatusNoContent || p.Header.Get("Access-Control-Allow-Origin") != "*" || p.Header.Get("Access-Control-Allow-Headers") != "*" {
		t.Errorf("S20 preflight: %d %v", p.Status, p.Header)
	}
	// The documents that it names are read with the same header field.
	for _, path := range []string{"/.well-known/oauth-authorization-server", "/.well-known/openid-configuration", "/.well-known/jwks.json"} {
		p := send(t, harness.NewBrowser(t, ""), http.MethodOptions, g.ID+path, "",
			"Origin", "https://anywhere.example", "Access-Control-Request-Method", "GET", "Access-Control-Request-Headers", "mcp-protocol-version")
		if p.Status != http.StatusNoContent || p.Header.Get("Access-Control-Allow-Origin") != "*" || !strings.HasSuffix(p.Header.Get("Access-Control-Allow-Headers"), ", *") {
			t.Errorf("S20 preflight of %s: %d %v", path, p.Status, p.Header)
		}
	}
	wantHits(t, up, 0)
}

// S06: a guard whose audience is the issuer has metadata too, on its own site and where its
// challenge says.
func TestGuardWithIssuerAudienceHasMetadata(t *testing.T) {
	g, _ := startSite(t, strings.Replace(site, "audience https://api.example\n", "", 1))
	where := g.ID + "/.well-known/oauth-protected-resource"
	if h := g.Call(t, http.MethodGet, "/read", "").Header.Get("Www-Authenticate"); !strings.Contains(h, `resource_metadata="`+where+`"`) {
		t.Errorf("S06 %s", h)
	}
	for _, address := range []string{where, g.API + "/.well-known/oauth-protected-resource", g.API + "/.well-known/oauth-protected-resource/read"} {
		status, body := harness.Get(t, address)
		if status != http.StatusOK || !strings.Contains(body, `"resource":"`+g.ID+`"`) || !strings.Contains(body, `"scopes_supported":["admin","read","write"]`) {
			t.Errorf("S06 %s: %d %s", address, status, body)
		}
	}
	access, _ := wantTokens(t, g.Token(t, machine, with(credentialsForm, "resource", g.ID+"/")))
	if p := g.Call(t, http.MethodGet, "/read", access); p.Status != http.StatusOK {
		t.Errorf("S06 %d %s", p.Status, p.Body)
	}
}

// S06: a handler behind oauth_server does not say where clients get tokens for the issuer. Other
// resources on the host have metadata of their own.
func TestHandlersBehindTheIssuerCannotServeItsMetadata(t *testing.T) {
	const behind = "\toauth_server\n\toauth_guard {\n\t\taudience http://$ID/api\n\t\tpublic /site /.well-known/*\n\t\tscope read /api\n\t}\n\treverse_proxy $UPSTREAM\n"
	g, up := startSite(t, strings.NewReplacer("audience https://api.example\n", "", "\toauth_server\n", behind).Replace(site))
	where := g.ID + "/.well-known/oauth-protected-resource"
	for address, resource := range map[string]string{where: g.ID, where + "/api": g.ID + "/api"} {
		if status, body := harness.Get(t, address); status != http.StatusOK || !strings.Contains(body, `"resource":"`+resource+`"`) {
			t.Errorf("S06 %s: %d %s", address, status, body)
		}
	}
	wantHits(t, up, 0)
	if status, _ := harness.Get(t, g.ID+"/site"); status != http.StatusOK {
		t.Errorf("S06 the handler behind: %d", status)
	}
	wantHits(t, up, 1)
}

// S06: without such a guard the issuer is no resource that anybody could get tokens for.
func TestIssuerIsNotAResourceByDefault(t *testing.T) {
	g, _ := start(t)
	if status, body := harness.Get(t, g.ID+"/.well-known/oauth-protected-resource"); status != http.StatusNotFound {
		t.Errorf("S06 %d %s", status, body)
	}
}

// S17: client libraries ask for http://host/ where http://host is configured, and the other way
// round (RFC 3986 section 6.2.3). The aud is the one that is configured.
func TestResourceMatchesWithAndWithoutATrailingSlash(t *testing.T) {
	for _, configured := range []string{"https://api.example", "https://api.example/"} {
		t.Run("S17 configured as "+configured, func(t *testing.T) {
			g, up := startSite(t, strings.Replace(site, "audience https://api.example\n", "audience "+configured+"\n", 1))
			for _, asked := range []string{"https://api.example", "https://api.example/"} {
				access, _ := wantTokens(t, g.Token(t, machine, with(credentialsForm, "resource", asked)))
				if aud := fmt.Sprint(claimsOf(t, access)["aud"]); aud != configured && aud != "["+configured+"]" {
					t.Errorf("S17 resource %s: aud %s", asked, aud)
				}
				access, refresh := tokens(t, g, web, "resource", asked)
				if p := g.Call(t, http.MethodGet, "/read", access); p.Status != http.StatusOK {
					t.Errorf("S17 resource %s at /authorize: %d %s", asked, p.Status, p.Body)
				}
				other := map[string]string{"https://api.example": "https://api.example/", "https://api.example/": "https://api.example"}[asked]
				access, _ = wantTokens(t, g.Token(t, web, url.Values{"grant_type": {"refresh_token"}, "refresh_token": {refresh}, "resource": {other}}))
				if p := g.Call(t, http.MethodGet, "/read", access); p.Status != http.StatusOK {
					t.Errorf("S17 refreshed for %s: %d %s", other, p.Status, p.Body)
				}
			}
			for _, asked := range []string{"https://api.example//", "https://api.example/x/../y", "http://api.example/", "https://api.example/?x", "https://API.example/"} {
				wantOAuth(t, g.Token(t, machine, with(credentialsForm, "resource", asked)), http.StatusBadRequest, "invalid_target")
			}
			up.Hits()
		})
	}
}
