package gateway

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"testing"

	"github.com/gatehouse/gatehouse/internal/testkit/harness"
)

const initialToken = "an-initial-access-token-of-the-tests-0123456789"

// startRegistering is start with registration on, for at most limit clients.
func startRegistering(t *testing.T, limit int) (*harness.Gateway, *harness.Upstream) {
	t.Helper()
	t.Setenv("GATEHOUSE_TEST_INITIAL", initialToken)
	return start(t, "$GLOBAL", fmt.Sprintf("registration {\n\t\t\tinitial_token {env.GATEHOUSE_TEST_INITIAL}\n\t\t\tscopes read write\n\t\t\tmax %d\n\t\t}", limit))
}

// call sends JSON with a bearer token, "" for none.
func call(t *testing.T, method, address, token string, body any) harness.Page {
	t.Helper()
	text := ""
	if body != nil {
		raw, err := json.Marshal(body)
		if err != nil {
			t.Fatal(err)
		}
		text = string(raw)
	}
	r, err := http.NewRequest(method, address, strings.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Content-Type", "application/json")
	if token != "" {
		r.Header.Set("Authorization", "Bearer "+token)
	}
	return harness.Do(t, harness.NewBrowser(t, "").Client, r)
}

func member(t *testing.T, p harness.Page, name string) string {
	t.Helper()
	s, _ := p.JSON(t)[name].(string)
	return s
}

func TestDynamicClientRegistersSignsInAndIsDeleted(t *testing.T) {
	g, up := startRegistering(t, 10)
	const to = "https://new.example/cb"
	p := call(t, http.MethodPost, g.ID+"/register", initialToken, map[string]any{
		"redirect_uris": []string{to}, "client_name": "My bank", "grant_types": []string{"authorization_code", "refresh_token"}, "scope": "read",
	})
	if p.Status != http.StatusCreated || p.Header.Get("Cache-Control") != "no-store" {
		t.Fatalf("%d %v %s", p.Status, p.Header, p.Body)
	}
	c := harness.Credentials{ID: member(t, p, "client_id"), Secret: member(t, p, "client_secret")}
	access, address := member(t, p, "registration_access_token"), member(t, p, "registration_client_uri")
	if c.ID == "" || len(c.Secret) != 43 || len(access) != 43 || address != g.ID+"/register/"+c.ID {
		t.Fatalf("%s", p.Body)
	}

	b := harness.NewBrowser(t, g.ID)
	consent := b.Submit(b.Get(authorizeURL(g, c.ID, "redirect_uri", to)), url.Values{"username": {username}, "password": {password}})
	wantPage(t, consent, http.StatusOK)
	if !strings.Contains(consent.Body, "new.example") || !strings.Contains(consent.Body, "My bank") || !strings.Contains(consent.Body, "verified") {
		t.Errorf("the consent page does not say who asks, and that nobody has verified it: %s", consent.Body)
	}
	code := harness.NewBrowser(t, g.ID).Authorize(authorizeURL(g, c.ID, "redirect_uri", to), username, password).Query().Get("code")
	token, refresh := wantTokens(t, g.Token(t, c, exchange(code, to)))
	if p := bearer(t, g, "/read", token); p.Status != http.StatusOK {
		t.Errorf("%d %s", p.Status, p.Body)
	}
	up.Hits()

	p = call(t, http.MethodPut, address, access, map[string]any{
		"client_id": c.ID, "redirect_uris": []string{to, to + "2"}, "client_name": "Better name", "grant_types": []string{"authorization_code", "refresh_token"}, "scope": "read write",
	})
	if p.Status != http.StatusOK || member(t, p, "client_name") != "Better name" || member(t, p, "scope") != "read write offline_access" || member(t, p, "client_secret") != "" {
		t.Errorf("%d %s", p.Status, p.Body)
	}
	if p := call(t, http.MethodGet, address, access, nil); p.Status != http.StatusOK || member(t, p, "client_name") != "Better name" || member(t, p, "registration_access_token") != access {
		t.Errorf("%d %s", p.Status, p.Body)
	}
	if p := call(t, http.MethodDelete, address, access, nil); p.Status != http.StatusNoContent || p.Body != "" {
		t.Errorf("%d %s", p.Status, p.Body)
	}
	wantDead(t, g, token)
	wantOAuth(t, g.Token(t, c, refreshWith(refresh)), http.StatusUnauthorized, "invalid_client")
	if p := call(t, http.MethodGet, address, access, nil); p.Status != http.StatusUnauthorized {
		t.Errorf("%d %s", p.Status, p.Body)
	}
	wantPage(t, b.Get(authorizeURL(g, c.ID, "redirect_uri", to)), http.StatusBadRequest)
}

func TestRegistrationIsOffByDefault(t *testing.T) {
	g, _ := start(t)
	for _, path := range []string{"/register", "/register/", "/register/web", "/register/c-x"} {
		for _, method := range []string{http.MethodGet, http.MethodPost, http.MethodPut, http.MethodDelete} {
			if p := call(t, method, g.ID+path, initialToken, map[string]any{"redirect_uris": []string{"https://x.example/"}}); p.Status != http.StatusNotFound {
				t.Errorf("%s %s: %d", method, path, p.Status)
			}
		}
	}
	p := harness.NewBrowser(t, g.ID).Get(g.ID + "/.well-known/oauth-authorization-server")
	if strings.Contains(p.Body, "registration_endpoint") || !strings.Contains(p.Body, `"pushed_authorization_request_endpoint":"`+g.ID+`/par"`) ||
		!strings.Contains(p.Body, "private_key_jwt") || !strings.Contains(p.Body, "token_endpoint_auth_signing_alg_values_supported") {
		t.Errorf("the metadata: %s", p.Body)
	}
}

func TestParallelRegistrationsStayWithinThePlaces(t *testing.T) {
	const places, tries = 5, 40
	g, _ := startRegistering(t, places)
	statuses := make([]int, tries)
	var all sync.WaitGroup
	for i := range statuses {
		all.Go(func() {
			p := call(t, http.MethodPost, g.ID+"/register", initialToken, map[string]any{"redirect_uris": []string{"https://new.example/cb"}})
			statuses[i] = p.Status
		})
	}
	all.Wait()
	made := 0
	for _, status := range statuses {
		switch status {
		case http.StatusCreated:
			made++
		case http.StatusForbidden:
		default:
			t.Errorf("status %d", status)
		}
	}
	if made != places {
		t.Errorf("%d clients registered, there are %d places", made, places)
	}
}

// S19: tokens of registered clients are for the audience that the block names, here that of
// a guard of its own.
func TestRegisteredClientsGetTheConfiguredAudience(t *testing.T) {
	t.Setenv("GATEHOUSE_TEST_INITIAL", initialToken)
	const to, theirs = "https://new.example/cb", "https://mcp.example"
	g, _ := startSite(t, trustingSite, "$GUARD", "audience "+theirs,
		"$GLOBAL", "registration {\n\t\t\tinitial_token {env.GATEHOUSE_TEST_INITIAL}\n\t\t\tscopes read\n\t\t\taudience "+theirs+"\n\t\t}")
	p := call(t, http.MethodPost, g.ID+"/register", initialToken, map[string]any{
		"redirect_uris": []string{to}, "token_endpoint_auth_method": "none", "scope": "read write unheard-of",
		"grant_types": []string{"authorization_code", "refresh_token", "client_credentials"}, "response_types": []string{"code"},
	})
	m := p.JSON(t)
	if p.Status != http.StatusCreated || m["scope"] != "read offline_access" || fmt.Sprint(m["grant_types"]) != "[authorization_code refresh_token]" {
		t.Fatalf("S19 the answer says what was registered: %d %s", p.Status, p.Body)
	}
	c := newCoder(t, g)
	id := member(t, p, "client_id")
	for name, resource := range map[string]string{"S19 by default": "-", "S19 asked for": theirs} {
		token, _ := wantTokens(t, g.Token(t, harness.Credentials{ID: id}, exchange(c.code(id, "redirect_uri", to, "resource", resource), to)))
		if claims := claimsOf(t, token); claims["aud"] != theirs {
			t.Errorf("%s: the audience is %v", name, claims["aud"])
		}
		if p := bearer(t, g, "/read", token); p.Status != http.StatusOK {
			t.Errorf("%s: %d %s", name, p.Status, p.Body)
		}
	}
	// It is no audience that others are given, nor do registered clients get that of others.
	back := c.b.Authorize(authorizeURL(g, id, "redirect_uri", to, "resource", "https://api.example"), username, password).Query()
	if back.Get("error") != "invalid_target" {
		t.Errorf("S19 the audience of others: %v", back)
	}
	token, _ := wantTokens(t, g.Token(t, web, exchange(c.code("web"), callback)))
	if claims := claimsOf(t, token); claims["aud"] != "https://api.example" {
		t.Errorf("S19 a configured client: %v", claims["aud"])
	}
}

// S19: a client that names no scope, as the MCP SDK before 1.21 does, gets what the answer to
// its registration said. The person who consents sees it.
func TestRegisteredClientDefaultsToItsRegisteredScopes(t *testing.T) {
	g, _ := startRegistering(t, 10)
	const to = "https://new.example/cb"
	for asked, want := range map[string]string{"": "read write", "read": "read", "read offline_access": "read"} {
		p := call(t, http.MethodPost, g.ID+"/register", initialToken, map[string]any{
			"redirect_uris": []string{to}, "token_endpoint_auth_method": "none", "scope": asked, "grant_types": []string{"authorization_code", "refresh_token"},
		})
		if scope := member(t, p, "scope"); scope != want+" offline_access" {
			t.Errorf("S19 %q: registered for %s", asked, scope)
		}
		id := member(t, p, "client_id")
		b := harness.NewBrowser(t, g.ID)
		consent := b.Submit(b.Get(authorizeURL(g, id, "redirect_uri", to, "scope", "-")), url.Values{"username": {username}, "password": {password}})
		if !strings.Contains(consent.Body, "<bdi>"+strings.Fields(want)[0]+"</bdi>") {
			t.Errorf("S19 %q: the consent page does not name %s: %.3000s", asked, want, consent.Body)
		}
		code := newCoder(t, g).code(id, "redirect_uri", to, "scope", "-")
		token, _ := wantTokens(t, g.Token(t, harness.Credentials{ID: id}, exchange(code, to)))
		if scope := claimsOf(t, token)["scope"]; scope != want {
			t.Errorf("S19 %q: granted %v, want %s", asked, scope, want)
		}
	}
	// Configured clients have the default scopes that are configured, here none.
	if back := harness.NewBrowser(t, g.ID).Authorize(authorizeURL(g, "other", "scope", "-"), username, password).Query(); back.Get("error") != "invalid_scope" {
		t.Errorf("S19 %v", back)
	}
	if p := call(t, http.MethodPost, g.ID+"/register", "", map[string]any{}); p.Status != http.StatusUnauthorized || !strings.Contains(p.Body, "initial access token") {
		t.Errorf("S19 without a token: %d %s", p.Status, p.Body)
	}
}

// S19: closing registration gives those who registered no tokens for another audience.
func TestClosedRegistrationKeepsTheAudienceOfRegisteredClients(t *testing.T) {
	t.Setenv("GATEHOUSE_TEST_INITIAL", initialToken)
	const to, theirs, block = "https://new.example/cb", "https://mcp.example", "registration {\n\t\t\tinitial_token {env.GATEHOUSE_TEST_INITIAL}\n\t\t\tscopes read\n\t\t\taudience https://mcp.example\n\t\t}"
	g, _ := startSite(t, trustingSite, "$GUARD", "", "$GLOBAL", block)
	p := call(t, http.MethodPost, g.ID+"/register", initialToken, map[string]any{
		"redirect_uris": []string{to}, "token_endpoint_auth_method": "none", "grant_types": []string{"authorization_code", "refresh_token"},
	})
	id := member(t, p, "client_id")
	c := newCoder(t, g)
	token, refresh := wantTokens(t, g.Token(t, harness.Credentials{ID: id}, exchange(c.code(id, "redirect_uri", to), to)))
	if aud := claimsOf(t, token)["aud"]; aud != theirs {
		t.Fatalf("S19 %v", aud)
	}
	g.Load(t, strings.NewReplacer("$GUARD", "", "$GLOBAL", "").Replace(trustingSite))
	token, _ = wantTokens(t, g.Token(t, harness.Credentials{ID: id}, url.Values{"grant_type": {"refresh_token"}, "refresh_token": {refresh}}))
	if aud := claimsOf(t, token)["aud"]; aud != theirs {
		t.Errorf("S19 refreshed: the audience is %v", aud)
	}
	token, _ = wantTokens(t, g.Token(t, harness.Credentials{ID: id}, exchange(c.code(id, "redirect_uri", to), to)))
	if aud := claimsOf(t, token)["aud"]; aud != theirs {
		t.Errorf("S19 a new sign-in: the audience is %v", aud)
	}
}

// S19: a browser application registers itself from its own page.
func TestBrowserPageMayRegisterItsClient(t *testing.T) {
	g, _ := startRegistering(t, 10)
	const page = "https://new.example"
	ask := func(method, address, token string, body string, header ...string) harness.Page {
		header = append(header, "Origin", page, "Content-Type", "application/json")
		if token != "" {
			header = append(header, "Authorization", "Bearer "+token)
		}
		return harness.Send(t, http.DefaultClient, method, address, body, header...)
	}
	p := ask(http.MethodOptions, g.ID+"/register", "", "", "Access-Control-Request-Method", "POST", "Access-Control-Request-Headers", "authorization,content-type")
	h := p.Header
	if p.Status != http.StatusNoContent || h.Get("Access-Control-Allow-Origin") != "*" || !strings.Contains(h.Get("Access-Control-Allow-Methods"), "POST") ||
		!strings.Contains(strings.ToLower(h.Get("Access-Control-Allow-Headers")), "authorization") || h.Get("Access-Control-Allow-Credentials") != "" {
		t.Fatalf("S19 the preflight: %d %v", p.Status, h)
	}
	p = ask(http.MethodPost, g.ID+"/register", initialToken, `{"redirect_uris":["`+page+`/cb"],"token_endpoint_auth_method":"none"}`)
	address, access := member(t, p, "registration_client_uri"), member(t, p, "registration_access_token")
	if p.Status != http.StatusCreated || p.Header.Get("Access-Control-Allow-Origin") != "*" || p.Header.Get("Cache-Control") != "no-store" {
		t.Fatalf("S19 the registration: %d %v %s", p.Status, p.Header, p.Body)
	}
	p = ask(http.MethodOptions, address, "", "", "Access-Control-Request-Method", "DELETE", "Access-Control-Request-Headers", "authorization")
	if p.Status != http.StatusNoContent || !strings.Contains(p.Header.Get("Access-Control-Allow-Methods"), "DELETE") {
		t.Errorf("S19 the preflight of the client's own address: %d %v", p.Status, p.Header)
	}
	for name, p := range map[string]harness.Page{
		"S19 its own address":  ask(http.MethodGet, address, access, ""),
		"S19 a wrong token":    ask(http.MethodPost, g.ID+"/register", "wrong", `{}`),
		"S19 without a token":  ask(http.MethodPost, g.ID+"/register", "", `{}`),
		"S19 a method amiss":   ask(http.MethodPatch, g.ID+"/register", initialToken, `{}`),
		"S19 refused metadata": ask(http.MethodPost, g.ID+"/register", initialToken, `{}`),
	} {
		if p.Header.Get("Access-Control-Allow-Origin") != "*" {
			t.Errorf("%s cannot be read: %d %v", name, p.Status, p.Header)
		}
	}
	plain, _ := start(t)
	if p := harness.Send(t, http.DefaultClient, http.MethodOptions, plain.ID+"/register", "", "Origin", page, "Access-Control-Request-Method", "POST"); p.Header.Get("Access-Control-Allow-Origin") != "" {
		t.Errorf("S19 where nobody may register: %v", p.Header)
	}
}
