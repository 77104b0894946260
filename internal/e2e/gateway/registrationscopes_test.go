package gateway

import (
	"net/http"
	"strings"
	"testing"

	"github.com/gatehouse/gatehouse/internal/testkit/harness"
)

// N17: scopes that are taken out of `registration` are no longer had by clients that registered
// before, as the answers about them say.
func TestScopesRemovedFromRegistrationAreWithdrawn(t *testing.T) {
	g, _ := startRegistering(t, 10)
	const to = "https://new.example/cb"
	p := call(t, http.MethodPost, g.ID+"/register", initialToken, map[string]any{
		"redirect_uris": []string{to}, "token_endpoint_auth_method": "none", "scope": "read write", "grant_types": []string{"authorization_code", "refresh_token"},
	})
	c, own, address := harness.Credentials{ID: member(t, p, "client_id")}, member(t, p, "registration_access_token"), member(t, p, "registration_client_uri")
	token, refresh := wantTokens(t, g.Token(t, c, exchange(newCoder(t, g).code(c.ID, "redirect_uri", to, "scope", "read write"), to)))
	if scope := claimsOf(t, token)["scope"]; scope != "read write" {
		t.Fatalf("N17 granted %v", scope)
	}
	g.Load(t, strings.NewReplacer("$GUARD", "", "$GLOBAL", "registration {\n\t\t\tinitial_token {env.GATEHOUSE_TEST_INITIAL}\n\t\t\tscopes read\n\t\t}").Replace(site))
	if scope := member(t, call(t, http.MethodGet, address, own, nil), "scope"); scope != "read offline_access" {
		t.Errorf("N17 the registration says %q", scope)
	}
	b := harness.NewBrowser(t, g.ID)
	if back := b.Authorize(authorizeURL(g, c.ID, "redirect_uri", to, "scope", "read write"), username, password).Query(); back.Get("error") != "invalid_scope" {
		t.Errorf("N17 an authorization for what was taken: %v", back)
	}
	token, refresh = wantTokens(t, g.Token(t, c, refreshWith(refresh)))
	if scope := claimsOf(t, token)["scope"]; scope != "read" {
		t.Errorf("N17 refreshed: granted %v", scope)
	}
	g.Load(t, strings.NewReplacer("$GUARD", "", "$GLOBAL", "").Replace(site))
	token, _ = wantTokens(t, g.Token(t, c, refreshWith(refresh)))
	if scope := claimsOf(t, token)["scope"]; scope != "read" {
		t.Errorf("N17 refreshed when nobody can register any more: granted %v", scope)
	}
}
