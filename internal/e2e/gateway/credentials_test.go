package gateway

import (
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/gatehouse/gatehouse/internal/testkit/harness"
)

func TestClientCredentialsGrant(t *testing.T) {
	g, up := startSite(t, trustingSite)
	// A user whose id is a client's.
	rewriteUsers(t, g, strings.Replace(users, `"u-2"`, `"machine"`, 1))
	t.Run("K01 no user, no refresh token", func(t *testing.T) {
		p := g.Token(t, machine, credentialsForm)
		access, _ := wantTokens(t, p)
		if _, has := p.JSON(t)["refresh_token"]; has {
			t.Errorf("%s", p.Body)
		}
		if sub := claimsOf(t, access)["sub"]; sub != "client:machine" {
			t.Errorf("sub %v", sub)
		}
		if p := bearer(t, g, "/read", access); p.Status != http.StatusOK {
			t.Fatalf("%d %s", p.Status, p.Body)
		}
		h := wantHits(t, up, 1)[0].Header
		if _, has := h["X-Auth-Subject"]; has || h.Get("X-Auth-Client") != "machine" || h.Get("X-Auth-Scopes") != "read" {
			t.Errorf("%v", h)
		}
	})
	t.Run("K02 scopes", func(t *testing.T) {
		for _, scope := range []string{"write", "read write", "admin", "nonsense", `"`, "READ"} {
			wantOAuth(t, g.Token(t, machine, with(credentialsForm, "scope", scope)), http.StatusBadRequest, "invalid_scope")
		}
		wantOAuth(t, g.Token(t, machine, with(credentialsForm, "scope", "-")), http.StatusBadRequest, "invalid_scope")
		p := g.Token(t, web, with(credentialsForm, "scope", "-"))
		if wantTokens(t, p); p.JSON(t)["scope"] != "read" {
			t.Errorf("the default: %s", p.Body)
		}
	})
	t.Run("K03 a public client", func(t *testing.T) {
		wantOAuth(t, g.Token(t, spa, credentialsForm), http.StatusBadRequest, "unauthorized_client")
		// Nor can it be allowed to.
		err := g.TryLoad(strings.Replace(trustingSite, "public\n\t\t\tredirect_uri https://spa.example/cb", "public\n\t\t\tgrants client_credentials\n\t\t\tredirect_uri https://spa.example/cb", 1))
		if err == nil {
			wantOAuth(t, g.Token(t, spa, credentialsForm), http.StatusBadRequest, "unauthorized_client")
		}
	})
	t.Run("K04 resources", func(t *testing.T) {
		for _, resource := range []string{"https://other.example", "https://api.example//", "https://api.example/x/../y", "https://api.examplex", "https://API.example", "x"} {
			wantOAuth(t, g.Token(t, machine, with(credentialsForm, "resource", resource)), http.StatusBadRequest, "invalid_target")
		}
		wantOAuth(t, g.Token(t, machine, url.Values{
			"grant_type": {"client_credentials"}, "scope": {"read"}, "resource": {"https://api.example", "https://other.example"},
		}), http.StatusBadRequest, "invalid_target")
		wantTokens(t, g.Token(t, machine, with(credentialsForm, "resource", "https://api.example")))
	})
}

// K02, P01: what is not offered does not work.
func TestUnsupportedGrantsAreRefused(t *testing.T) {
	g, _ := start(t)
	for _, grant := range []string{"password", "implicit", "urn:ietf:params:oauth:grant-type:device_code", "urn:ietf:params:oauth:grant-type:jwt-bearer", "urn:ietf:params:oauth:grant-type:token-exchange"} {
		p := g.Token(t, web, url.Values{"grant_type": {grant}, "username": {username}, "password": {password}, "assertion": {"x"}})
		wantOAuth(t, p, http.StatusBadRequest, "unsupported_grant_type")
	}
	_, body := harness.Get(t, g.ID+"/.well-known/oauth-authorization-server")
	if strings.Contains(body, "password") || strings.Contains(body, "implicit") {
		t.Errorf("P01: %s", body)
	}
}
