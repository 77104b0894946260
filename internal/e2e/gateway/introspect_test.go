package gateway

import (
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/gatehouse/gatehouse/internal/testkit/harness"
)

func TestIntrospection(t *testing.T) {
	g, _ := startSite(t, trustingSite, "$GLOBAL", resourceServerClient+strings.NewReplacer("client api", "client elsewhere", "introspect", "introspect\n\t\t\taudience https://elsewhere.example").Replace(resourceServerClient))
	elsewhere := harness.Credentials{ID: "elsewhere", Secret: resourceServer.Secret}
	c := newCoder(t, g)
	access, refresh := wantTokens(t, g.Token(t, web, exchange(c.code("web"), callback)))
	t.Run("I01 a living access token", func(t *testing.T) {
		for _, who := range []harness.Credentials{web, resourceServer} {
			m := wantActive(t, at(t, g, "/introspect", who, with(tokenForm(access), "token_type_hint", "refresh_token")))
			claims := claimsOf(t, access)
			for name, want := range map[string]any{
				"scope": "read", "client_id": "web", "sub": "u-1", "aud": "https://api.example", "iss": g.ID, "token_type": "Bearer",
				"exp": claims["exp"], "iat": claims["iat"], "jti": claims["jti"], "token_use": "access_token",
			} {
				if m[name] != want {
					t.Errorf("%s: %v, want %v", name, m[name], want)
				}
			}
			if len(m) != 11 {
				t.Errorf("%v", m)
			}
		}
	})
	t.Run("I01 a client's own", func(t *testing.T) {
		own, _ := wantTokens(t, g.Token(t, machine, credentialsForm))
		if m := wantActive(t, at(t, g, "/introspect", machine, tokenForm(own))); m["sub"] != "client:machine" {
			t.Errorf("%v", m)
		}
	})
	t.Run("I05 a refresh token", func(t *testing.T) {
		m := wantActive(t, at(t, g, "/introspect", web, tokenForm(refresh)))
		if m["token_use"] != "refresh_token" || m["client_id"] != "web" || m["token_type"] != nil || m["aud"] != nil {
			t.Errorf("%v", m)
		}
		for _, who := range []harness.Credentials{other, machine, resourceServer} {
			wantInactive(t, at(t, g, "/introspect", who, tokenForm(refresh)))
		}
	})
	t.Run("tokens of others", func(t *testing.T) {
		for _, who := range []harness.Credentials{other, machine, elsewhere} {
			wantInactive(t, at(t, g, "/introspect", who, tokenForm(access), "X-Forwarded-For", somebody()))
		}
	})
	t.Run("I03 who may not ask", func(t *testing.T) {
		for _, who := range []harness.Credentials{{}, spa, {ID: "web"}, {ID: "web", Secret: other.Secret}, {ID: "nobody", Secret: web.Secret}} {
			p := at(t, g, "/introspect", who, tokenForm(access), "X-Forwarded-For", somebody())
			wantOAuth(t, p, http.StatusUnauthorized, "invalid_client")
		}
		own, _ := wantTokens(t, g.Token(t, spa, exchange(c.code("spa"), spaCallback)))
		wantOAuth(t, at(t, g, "/introspect", spa, tokenForm(own)), http.StatusUnauthorized, "invalid_client")
		wantActive(t, at(t, g, "/introspect", resourceServer, tokenForm(own)))
	})
	t.Run("I04 token in the address", func(t *testing.T) {
		wantOAuth(t, at(t, g, "/introspect?token="+access, web, url.Values{"x": {"y"}}), http.StatusBadRequest, "invalid_request")
		wantOAuth(t, at(t, g, "/introspect", web, url.Values{"x": {"y"}}), http.StatusBadRequest, "invalid_request")
	})
	t.Run("no scripts", func(t *testing.T) {
		p := send(t, harness.NewBrowser(t, ""), http.MethodOptions, g.ID+"/introspect", "", "Origin", "https://spa.example", "Access-Control-Request-Method", "POST")
		if p.Status != http.StatusMethodNotAllowed || p.Header.Get("Access-Control-Allow-Origin") != "" {
			t.Errorf("%d %v", p.Status, p.Header)
		}
	})
	t.Run("I08 guesses", func(t *testing.T) {
		from := somebody()
		statuses := map[int]int{}
		for i := range 20 {
			p := at(t, g, "/introspect", resourceServer, tokenForm(fmt.Sprintf("guess-%d", i)), "X-Forwarded-For", from)
			if statuses[p.Status]++; p.Status == http.StatusTooManyRequests && p.Header.Get("Retry-After") == "" {
				t.Error("no Retry-After")
			}
		}
		if statuses[http.StatusOK] != 10 || statuses[http.StatusTooManyRequests] != 10 {
			t.Errorf("%v", statuses)
		}
		wantActive(t, at(t, g, "/introspect", resourceServer, tokenForm(access), "X-Forwarded-For", from))
	})
	t.Run("what is over", func(t *testing.T) {
		wantRevoked(t, at(t, g, "/revoke", web, tokenForm(access)))
		wantInactive(t, at(t, g, "/introspect", resourceServer, tokenForm(access)))
		access, refresh = wantTokens(t, g.Token(t, web, refreshWith(refresh)))
		rewriteUsers(t, g, lockedUsers)
		wantInactive(t, at(t, g, "/introspect", resourceServer, tokenForm(access)))
		wantInactive(t, at(t, g, "/introspect", web, tokenForm(refresh)))
		// What its client revokes while the user is locked stays dead afterwards.
		wantRevoked(t, at(t, g, "/revoke", web, tokenForm(access)))
		rewriteUsers(t, g, users)
		wantInactive(t, at(t, g, "/introspect", resourceServer, tokenForm(access)))
		wantDead(t, g, access)
		wantActive(t, at(t, g, "/introspect", web, tokenForm(refresh)))
	})
}

func TestMetadataNamesRevocationAndIntrospection(t *testing.T) {
	g, _ := start(t)
	_, m := readMetadata(t, g.ID+metadataPath)
	if m["revocation_endpoint"] != g.ID+"/revoke" || m["introspection_endpoint"] != g.ID+"/introspect" {
		t.Errorf("%v", m)
	}
	methods := fmt.Sprint(m["introspection_endpoint_auth_methods_supported"])
	if strings.Contains(methods, "none") || !strings.Contains(methods, "client_secret_basic") || !strings.Contains(fmt.Sprint(m["revocation_endpoint_auth_methods_supported"]), "none") {
		t.Errorf("%v", m)
	}
}

// C02, F02: what a replay kills is dead everywhere within a second.
func TestReplayReachesGuardUserinfoAndIntrospection(t *testing.T) {
	g, _, m := startFaulty(t, "$GLOBAL", resourceServerClient+`client oidc {
			secret oidc-secret-0123456789-0123456789-0123456789
			redirect_uri https://client.example/cb
			scopes openid read
		}
		`)
	oidc := harness.Credentials{ID: "oidc", Secret: "oidc-secret-0123456789-0123456789-0123456789"}
	c := newCoder(t, g)
	node := otherNode(t, m)
	userinfo := func(access string) int {
		return send(t, harness.NewBrowser(t, ""), http.MethodGet, g.ID+"/userinfo", "", "Authorization", "Bearer "+access).Status
	}
	for _, replayed := range []string{"code", "refresh token"} {
		t.Run(replayed, func(t *testing.T) {
			fresh := c.code("oidc", "scope", "openid read")
			access, refresh := wantTokens(t, g.Token(t, oidc, exchange(fresh, callback)))
			access2, refresh2 := wantTokens(t, g.Token(t, oidc, refreshWith(refresh)))
			_, refresh3 := wantTokens(t, g.Token(t, oidc, refreshWith(refresh2)))
			for _, a := range []string{access, access2} {
				if p := bearer(t, g, "/read", a); p.Status != http.StatusOK || userinfo(a) != http.StatusOK {
					t.Fatalf("guard %d, userinfo %d", p.Status, userinfo(a))
				}
				wantActive(t, at(t, g, "/introspect", resourceServer, tokenForm(a)))
			}
			replay := exchange(fresh, callback)
			if replayed == "refresh token" {
				replay = refreshWith(refresh)
			}
			wantOAuth(t, g.Token(t, oidc, replay), http.StatusBadRequest, "invalid_grant")
			begun := time.Now()
			for _, a := range []string{access, access2} {
				wantDead(t, g, a)
				wantDeadAt(t, node, a)
				wantInactive(t, at(t, g, "/introspect", resourceServer, tokenForm(a)))
				if s := userinfo(a); s != http.StatusUnauthorized {
					t.Errorf("userinfo %d", s)
				}
			}
			for _, r := range []string{refresh2, refresh3} {
				wantInactive(t, at(t, g, "/introspect", oidc, tokenForm(r)))
				wantOAuth(t, g.Token(t, oidc, refreshWith(r)), http.StatusBadRequest, "invalid_grant")
			}
			if d := time.Since(begun); d > deadWithin {
				t.Errorf("after %v", d)
			}
		})
	}
}
