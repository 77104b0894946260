package gateway

import (
	"bytes"
	"errors"
	"net/http"
	"strings"
	"testing"
	"time"

	"golang.org/x/crypto/bcrypt"

	"github.com/gatehouse/gatehouse/internal/testkit/harness"
)

// authenticationSite has Caddy's own handler `authentication` with the gateway's provider, and
// matchers by scope.
var authenticationSite = faultySite[:strings.Index(faultySite, "http://$API")] + `
http://$API {
	header >X-User "{http.auth.user.id} {http.auth.user.client_id} {http.auth.user.scope}"
	handle /shaped/* {
		api_errors
		oauth_authentication
		api_limit {
			client 100000 1h
		}
		reverse_proxy $UPSTREAM
	}
	handle /plain/* {
		oauth_authentication {
			scopes write
			realm plain
		}
		reverse_proxy $UPSTREAM
	}
	handle /two/* {
		oauth_authentication {
			scopes admin
		}
		reverse_proxy $UPSTREAM
	}
	handle /by/* {
		@write oauth_scope write
		@both {
			oauth_scope read
			oauth_scope write
		}
		@read oauth_scope read
		@elsewhere oauth_scope read {
			audience https://other.example
		}
		respond @elsewhere elsewhere
		respond @both both
		respond @write write
		respond @read read
		respond nobody
	}
	handle /behind/* {
		oauth_guard {
			public GET /behind/public
			scope read GET /behind/*
		}
		@write oauth_scope write
		respond @write write
		respond other
	}
}
`

func startAuthentication(t *testing.T) (*harness.Gateway, *harness.Upstream, *forger, func(error)) {
	t.Helper()
	g, up, m := startFaultySite(t, authenticationSite, "$GLOBAL", "revocation_max_stale 1s")
	return g, up, newForger(t, g, m), m.Fail
}

func TestCaddyAuthenticationAcceptsOurTokens(t *testing.T) {
	g, up, f, _ := startAuthentication(t)
	read := f.token(map[string]any{"scope": "read"})
	p := send(t, harness.NewBrowser(t, ""), http.MethodGet, g.API+"/shaped/x", "", "Authorization", "Bearer "+read, "X-Auth-Subject", "forged",
		"X-HTTP-Method-Override", "DELETE")
	if p.Status != http.StatusOK || p.Header.Get("X-User") != "u-1 web read" {
		t.Errorf("%d %s %v", p.Status, p.Body, p.Header)
	}
	if h := wantHits(t, up, 1)[0].Header; h.Get("X-Auth-Subject") != "u-1" || h.Get("X-Auth-Scopes") != "read" || h.Get("Authorization")+h.Get("X-HTTP-Method-Override") != "" {
		t.Errorf("the API got %v", h)
	}
	if p := bearer(t, g, "/plain/x", f.token(map[string]any{"scope": "read write"})); p.Status != http.StatusOK {
		t.Errorf("%d %s", p.Status, p.Body)
	}
	wantHits(t, up, 1)
}

func TestCaddyAuthenticationRefusesLikeAGuard(t *testing.T) {
	g, up, f, fail := startAuthentication(t)
	read := f.token(map[string]any{"scope": "read"})
	expired := f.token(map[string]any{"exp": time.Now().Unix() - 1})
	wantChallenge(t, g.Call(t, http.MethodGet, "/shaped/x", ""), up, http.StatusUnauthorized, "")
	for _, token := range []string{"garbage", expired, f.token(map[string]any{"aud": "https://other.example"})} {
		wantChallenge(t, bearer(t, g, "/shaped/x", token), up, http.StatusUnauthorized, "invalid_token")
	}
	twice := []string{"Authorization: Bearer " + read, "Authorization: Bearer " + read}
	wantChallenge(t, harness.Wire(t, g.API, "GET /shaped/x", twice...), up, http.StatusBadRequest, "invalid_request")
	wantEnvelope(t, bearer(t, g, "/shaped/x?access_token="+read, read), http.StatusBadRequest, "invalid_request")

	// Without api_errors in front.
	for _, c := range []struct {
		page      harness.Page
		status    int
		challenge string
	}{
		{g.Call(t, http.MethodGet, "/plain/x", ""), http.StatusUnauthorized, `Bearer realm="plain"`},
		{bearer(t, g, "/plain/x", expired), http.StatusUnauthorized, `error="invalid_token"`},
		{bearer(t, g, "/plain/x", read), http.StatusForbidden, `error="insufficient_scope"`},
		{harness.Wire(t, g.API, "GET /plain/x", twice...), http.StatusBadRequest, `error="invalid_request"`},
	} {
		if p := c.page; p.Status != c.status || p.Body != "" || !strings.Contains(p.Header.Get("WWW-Authenticate"), c.challenge) {
			t.Errorf("%d %q %v, want %d %s", p.Status, p.Body, p.Header, c.status, c.challenge)
		}
	}
	wantHits(t, up, 0)

	fail(errors.New("the store is away"))
	for _, path := range []string{"/plain/x", "/shaped/x", "/by/x"} {
		p := bearer(t, g, path, read)
		for deadline := time.Now().Add(30 * time.Second); p.Status != http.StatusServiceUnavailable && time.Now().Before(deadline); time.Sleep(20 * time.Millisecond) {
			p = bearer(t, g, path, read)
		}
		if p.Status != http.StatusServiceUnavailable || path != "/by/x" && p.Header.Get("Retry-After") == "" || p.Header.Get("WWW-Authenticate") != "" {
			t.Errorf("%s: %d %s %v", path, p.Status, p.Body, p.Header)
		}
	}
}

func TestRevokedTokenPassesNeitherProviderNorMatcher(t *testing.T) {
	g, _, _, _ := startAuthentication(t)
	access, _ := tokens(t, g, web)
	if p := bearer(t, g, "/by/x", access); p.Body != "read" {
		t.Errorf("%d %s", p.Status, p.Body)
	}
	wantRevoked(t, at(t, g, "/revoke", web, tokenForm(access)))
	for path, want := range map[string]int{"/shaped/x": http.StatusUnauthorized, "/by/x": http.StatusOK} {
		p := bearer(t, g, path, access)
		for deadline := time.Now().Add(30 * time.Second); (p.Status != want || p.Body == "read") && time.Now().Before(deadline); time.Sleep(20 * time.Millisecond) {
			p = bearer(t, g, path, access)
		}
		if p.Status != want || path == "/by/x" && p.Body != "nobody" {
			t.Errorf("%s: %d %s", path, p.Status, p.Body)
		}
	}
}

func TestAnotherProviderWorksBesideOurs(t *testing.T) {
	t.Setenv("GATEHOUSE_TEST_SECRET", masterSecret)
	g, up, f, _ := startAuthentication(t)
	hash, err := bcrypt.GenerateFromPassword([]byte("hush"), bcrypt.MinCost)
	if err != nil {
		t.Fatal(err)
	}
	g.ChangeConfigs(func(config []byte) []byte {
		basic := `"providers":{"http_basic":{"hash":{"algorithm":"bcrypt"},"accounts":[{"username":"bob","password":"` + string(hash) + `"}]},`
		return bytes.Replace(config, []byte(`"providers":{"gatehouse":{"scopes":["admin"]`), []byte(basic+`"gatehouse":{"scopes":["admin"]`), 1)
	})
	g.Load(t, authenticationSite)
	for range 4 { // Caddy asks the providers in any order
		r, err := http.NewRequest(http.MethodGet, g.API+"/two/x", nil)
		if err != nil {
			t.Fatal(err)
		}
		r.SetBasicAuth("bob", "hush")
		if p := harness.Do(t, http.DefaultClient, r); p.Status != http.StatusOK {
			t.Errorf("%d %s", p.Status, p.Body)
		}
		if p := bearer(t, g, "/two/x", f.token(map[string]any{"scope": "admin"})); p.Status != http.StatusOK {
			t.Errorf("%d %s", p.Status, p.Body)
		}
		wantHits(t, up, 2)
		if p := bearer(t, g, "/two/x", f.token(map[string]any{"scope": "read"})); p.Status != http.StatusUnauthorized {
			t.Errorf("%d %s", p.Status, p.Body)
		}
		wantHits(t, up, 0)
	}
}

func TestRequestsAreMatchedByScope(t *testing.T) {
	g, _, f, _ := startAuthentication(t)
	for _, c := range []struct {
		path, want string
		claims     map[string]any
	}{
		{"/by/x", "read", map[string]any{"scope": "read"}},
		{"/by/x", "write", map[string]any{"scope": "write"}},
		{"/by/x", "both", map[string]any{"scope": "write read"}},
		{"/by/x", "nobody", map[string]any{"scope": "admin"}},
		{"/by/x", "nobody", map[string]any{"scope": "reader"}},
		{"/by/x", "nobody", map[string]any{"scope": "read", "exp": time.Now().Unix() - 1}},
		{"/by/x", "nobody", map[string]any{"scope": "read", "iss": "https://evil.example"}},
		{"/by/x", "elsewhere", map[string]any{"scope": "read", "aud": "https://other.example"}},
		{"/behind/x", "write", map[string]any{"scope": "read write"}},
		{"/behind/x", "other", map[string]any{"scope": "read"}},
		{"/behind/public", "other", map[string]any{"scope": "write"}}, // the guard took the token away unread
	} {
		if p := bearer(t, g, c.path, f.token(c.claims)); p.Body != c.want {
			t.Errorf("%s %v: %d %s, want %s", c.path, c.claims, p.Status, p.Body, c.want)
		}
	}
	read := f.token(map[string]any{"scope": "read"})
	for header, want := range map[string]string{"X-None: 1": "nobody", "Authorization: Bearer garbage": "nobody", "Authorization: Basic eDp5": "nobody", "Authorization: Bearer " + read: "read"} {
		if p := harness.Wire(t, g.API, "GET /by/x", header); p.Body != want {
			t.Errorf("%s: %d %s", header, p.Status, p.Body)
		}
	}
	if p := harness.Wire(t, g.API, "GET /by/x", "Authorization: Bearer "+read, "Authorization: Bearer "+read); p.Body != "nobody" {
		t.Errorf("two tokens: %d %s", p.Status, p.Body)
	}
	if p := bearer(t, g, "/by/x", read); strings.Contains(p.Header.Get("X-User"), "{") {
		t.Errorf("placeholders of nobody are literal: %q", p.Header.Get("X-User"))
	}
	if p := harness.Wire(t, g.API, "GET /by/x", "Authorization: Bearer "+read, "Early-Data: 1"); p.Status != http.StatusTooEarly {
		t.Errorf("early data: %d %s", p.Status, p.Body)
	}
}
