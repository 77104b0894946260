package gateway

import (
	"net/http"
	"strings"
	"testing"

	"github.com/gatehouse/gatehouse/internal/testkit/harness"
)

// oneHost is the site with issuer, guard and API on one host, without a matcher.
func oneHost(site string) string {
	return strings.Replace(site, "\toauth_server\n}\nhttp://$API {\n", "\toauth_server\n", 1)
}

func TestIssuerGuardAndAPICanShareAHost(t *testing.T) { // S05
	g, up := startSite(t, oneHost(site))
	access, _ := tokens(t, g, web)
	bearer := "Authorization: Bearer " + access

	t.Run("S05 the API and the guard answer what is not the issuer's", func(t *testing.T) {
		if p := harness.Wire(t, g.ID, "GET /read", bearer); p.Status != http.StatusOK || p.Body != `{"ok":true}` {
			t.Errorf("%+v", p)
		}
		if p := harness.Wire(t, g.ID, "GET /read"); p.Status != http.StatusUnauthorized || !strings.HasPrefix(p.Header.Get("WWW-Authenticate"), "Bearer ") {
			t.Errorf("%+v", p)
		}
		if p := harness.Wire(t, g.ID, "GET /elsewhere", bearer); p.Status != http.StatusForbidden {
			t.Errorf("%+v", p)
		}
		wantHits(t, up, 1)
	})
	t.Run("S05 the issuer answers its own endpoints", func(t *testing.T) {
		for path, status := range map[string]int{
			"/.well-known/oauth-authorization-server": 200, "/.well-known/openid-configuration": 200, "/.well-known/jwks.json": 200,
			"/token": 405, "/login": 200, "/account": 200, "/connect/wait.js": 200, "/connect/nothing": 404, "/sns/nothing": 404,
		} {
			if p := harness.Wire(t, g.ID, "GET "+path, bearer); p.Status != status {
				t.Errorf("%s: %d, want %d", path, p.Status, status)
			}
		}
		wantHits(t, up, 0)
	})
	t.Run("S05 no cookie of the issuer passes", func(t *testing.T) {
		up.Answer(func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Add("Set-Cookie", "gatehouse=forged; Path=/")
			w.Header().Add("Set-Cookie", "own=1")
		})
		defer up.Answer(nil)
		p := harness.Wire(t, g.ID, "GET /read", bearer, "Cookie: own=2; gatehouse=session; gatehouse-browser=x")
		if got := p.Header.Values("Set-Cookie"); len(got) != 1 || got[0] != "own=1" {
			t.Errorf("%q", got)
		}
		if hits := up.Hits(); len(hits) != 1 || hits[0].Header.Get("Cookie") != "own=2" {
			t.Errorf("%v", hits)
		}
	})
}

// Without a guard that refuses other spellings.
func TestEndpointSpellingsDoNotReachTheAPI(t *testing.T) { // S05
	const behind = "\toauth_server\n\treverse_proxy $UPSTREAM\n}\nhttp://$API {\n"
	g, up := startSite(t, strings.Replace(site, "\toauth_server\n}\nhttp://$API {\n", behind, 1))
	for _, path := range []string{
		"/token/", "//token", "//host/token", "///host/token", "//u:p@host:80/login?x=y", "/\\host/token", "/%2fhost/token", "//host//x/../connect/qrconnect", "/./token", "/x/../token", "/TOKEN", "/Token", "/%2574oken", "/%252574oken", "/%2F/token", "/x%2f..%2ftoken",
		"/token;a=1", "/;/token", "/\\token", "/%5ctoken", "/%255ctoken", "/token%20", "/token.", "/token%00", "/token%2500", "/to%C5%BFken/../token", "/%25u0074oken",
		"/token%3Fcode=x", "/login%253Fx", "/x/..%2ftoken%3F/../x", "/account%23x", "/authorize%3fclient_id=web&state=x/y",
		"/authorize/?code=x", "/AUTHORIZE", "//authorize?state=x", "/log%C4%B1n/../login", "/regi%C5%BFter/../device",
		"/connect", "/connect/", "/CONNECT/x", "//connect/qrconnect", "/connect/../token", "/connect/x/../../articles", "/sns/x", "/SNS/oauth2/access_token", "/connect%2Fqrconnect/",
		"/.well-known/JWKS.json", "/.well-known//jwks.json", "/.well-known/oauth-authorization-server/", "/device_authori%C5%BFation/../par", "/%C5%BFns/auth", "/to%E2%84%AAen",
	} {
		for _, method := range []string{"GET", "POST"} {
			p := harness.Wire(t, g.ID, method+" "+path, "Content-Length: 0")
			if hits := up.Hits(); len(hits) > 0 {
				t.Errorf("%s %s reached the API as %s", method, path, hits[0].RequestURI)
			} else if p.Status < 400 {
				t.Errorf("%s %s: %d", method, path, p.Status)
			}
		}
	}
	for _, path := range []string{"/", "/tokens", "/token/7", "/my/token", "/devices", "/a%2520b", "/100%25", "/Articles/7", "/connected", "/.well-known/security.txt", "/register", "/x%3Fto=/token", "/host/token", "//host/articles"} {
		p := harness.Wire(t, g.ID, "GET "+path, "Cookie: gatehouse=session; own=1")
		hits := up.Hits()
		if p.Status != http.StatusOK || len(hits) != 1 || hits[0].RequestURI != path {
			t.Fatalf("%s: %+v %v", path, p, hits)
		}
		if hits[0].Header.Get("Cookie") != "own=1" {
			t.Errorf("%s: the API sees %q", path, hits[0].Header["Cookie"])
		}
	}
	t.Run("an issuer with a path keeps all below it", func(t *testing.T) {
		g.Load(t, strings.NewReplacer("issuer http://$ID", "issuer http://$ID/Auth", "\toauth_server\n}\nhttp://$API {\n", behind).Replace(site))
		for _, path := range []string{"/Auth/nothing", "/auth/token", "//Auth/x", "/x/../Auth/x", "/%2541uth/x", "/.well-known/oauth-authorization-server/auth"} {
			if p := harness.Wire(t, g.ID, "GET "+path); p.Status != http.StatusNotFound || len(up.Hits()) > 0 {
				t.Errorf("%s: %d", path, p.Status)
			}
		}
		for _, path := range []string{"/Auth", "/Auth/"} { // the issuer's own address
			if p := harness.Wire(t, g.ID, "GET "+path); p.Status != http.StatusOK || !strings.Contains(p.Body, "/Auth/login") || len(up.Hits()) > 0 {
				t.Errorf("S10 %s: %d", path, p.Status)
			}
		}
		for _, path := range []string{"/token", "/Author", "/articles"} {
			if p := harness.Wire(t, g.ID, "GET "+path); p.Status != http.StatusOK || len(up.Hits()) != 1 {
				t.Errorf("%s: %d", path, p.Status)
			}
		}
	})
}

// S05: on the host of an https issuer the API takes nothing without TLS, as nothing did before it
// shared that host: a site has its http address so that oauth_server refuses it.
func TestIssuersHostRefusesRequestsWithoutTLS(t *testing.T) {
	insecure := strings.NewReplacer("issuer http://$ID", "issuer https://id.example").Replace(oneHost(site))
	g, up := startSite(t, insecure)
	for _, path := range []string{"/public", "/read", "/.well-known/oauth-protected-resource", "/", "/token", "/nothing"} {
		p := harness.Wire(t, g.ID, "GET "+path, "X-Forwarded-Proto: https", "Authorization: Bearer x")
		if p.Status != http.StatusBadRequest || p.Header.Get("WWW-Authenticate") != "" {
			t.Errorf("%s: %d %v", path, p.Status, p.Header)
		}
	}
	wantHits(t, up, 0)
	g.Load(t, strings.Replace(insecure, "{\n", "{\n\tservers {\n\t\ttrusted_proxies static 127.0.0.1/8 ::1\n\t\ttrusted_proxies_strict\n\t}\n", 1))
	if p := harness.Wire(t, g.ID, "GET /public", "X-Forwarded-Proto: https"); p.Status != http.StatusOK {
		t.Errorf("TLS ended at a trusted proxy: %d", p.Status)
	}
	wantHits(t, up, 1)
}

func TestUnhandledPathsBehindTheIssuerAre404(t *testing.T) { // S05
	g, up := startSite(t, strings.Replace(site, "\toauth_server\n", "\toauth_server\n\thandle /empty {\n\t\trespond 200\n\t}\n\thandle /proxied {\n\t\treverse_proxy $UPSTREAM\n\t}\n\thandle /rewritten {\n\t\trewrite /token\n\t}\n", 1))
	for path, status := range map[string]int{"/nothing": 404, "/nothing/below": 404, "/empty": 200, "/proxied": 200, "/rewritten": 404} {
		if p := harness.Wire(t, g.ID, "GET "+path); p.Status != status {
			t.Errorf("%s: %d, want %d", path, p.Status, status)
		}
	}
	wantHits(t, up, 1)
}
