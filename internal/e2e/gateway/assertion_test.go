package gateway

import (
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/gatehouse/gatehouse/internal/testkit/harness"
)

// asserting posts a form with an assertion.
func asserting(t *testing.T, address, assertion string, form url.Values) harness.Page {
	t.Helper()
	v := url.Values{"client_assertion_type": {"urn:ietf:params:oauth:client-assertion-type:jwt-bearer"}, "client_assertion": {assertion}}
	for name, values := range form {
		v[name] = values
	}
	return send(t, harness.NewBrowser(t, ""), http.MethodPost, address, v.Encode())
}

// startKeyed is start with the client "keyed", which authenticates by private_key_jwt.
func startKeyed(t *testing.T) (*harness.Gateway, *harness.Upstream, harness.ClientKey) {
	t.Helper()
	key := harness.NewClientKey(t)
	g, up := start(t, "$GLOBAL", "client keyed {\n\t\t\tjwks `"+key.JWKS+"`\n\t\t\tauth_method private_key_jwt\n\t\t\tredirect_uri "+callback+
		"\n\t\t\tgrants authorization_code refresh_token client_credentials\n\t\t\tscopes read\n\t\t}")
	return g, up, key
}

func TestAssertionWorksAtEveryClientEndpoint(t *testing.T) {
	g, up, key := startKeyed(t)
	fresh := func() string { return key.Assertion(t, "keyed", g.ID) }
	access, _ := wantTokens(t, asserting(t, g.ID+"/token", fresh(), credentialsForm))
	// A server that is named as well could use the assertion here in the client's name.
	shared := key.Assertion(t, "keyed", []string{g.ID, "https://elsewhere.example"})
	wantOAuth(t, asserting(t, g.ID+"/token", shared, credentialsForm), http.StatusUnauthorized, "invalid_client")
	if p := bearer(t, g, "/read", access); p.Status != http.StatusOK {
		t.Errorf("%d %s", p.Status, p.Body)
	}
	up.Hits()
	if p := asserting(t, g.ID+"/introspect", fresh(), url.Values{"token": {access}}); p.Status != http.StatusOK || p.JSON(t)["active"] != true {
		t.Errorf("introspect: %d %s", p.Status, p.Body)
	}
	if p := asserting(t, g.ID+"/revoke", fresh(), url.Values{"token": {access}}); p.Status != http.StatusOK {
		t.Errorf("revoke: %d %s", p.Status, p.Body)
	}
	wantDead(t, g, access)

	pushed := asserting(t, g.ID+"/par", fresh(), url.Values{
		"redirect_uri": {callback}, "response_type": {"code"}, "scope": {"read"}, "state": {"S"},
		"code_challenge": {harness.Challenge(harness.Verifier)}, "code_challenge_method": {"S256"},
	})
	wantTokenHeader(t, pushed)
	if pushed.Status != http.StatusCreated {
		t.Fatalf("%d %s", pushed.Status, pushed.Body)
	}
	uri, _ := pushed.JSON(t)["request_uri"].(string)
	back := harness.NewBrowser(t, g.ID).Authorize(g.ID+"/authorize?"+url.Values{"client_id": {"keyed"}, "request_uri": {uri}}.Encode(), username, password)
	if !strings.HasPrefix(back.String(), callback+"?") || back.Query().Get("state") != "S" {
		t.Fatalf("back at %s", back)
	}
	wantTokens(t, asserting(t, g.ID+"/token", fresh(), exchange(back.Query().Get("code"), callback)))
}

// CVE-2020-15222, CVE-2020-5300: the same assertion was taken again, here or elsewhere.
func TestReplayedAssertionIsRefusedEverywhere(t *testing.T) {
	g, _, key := startKeyed(t)
	used := key.Assertion(t, "keyed", g.ID)
	wantTokens(t, asserting(t, g.ID+"/token", used, credentialsForm))
	for _, path := range []string{"/token", "/introspect", "/revoke", "/par"} {
		wantOAuth(t, asserting(t, g.ID+path, used, credentialsForm), http.StatusUnauthorized, "invalid_client")
	}
	g.Load(t, site) // the memory of it is not the configuration's
	wantOAuth(t, asserting(t, g.ID+"/token", used, credentialsForm), http.StatusUnauthorized, "invalid_client")
	wantOAuth(t, asserting(t, g.ID+"/token", harness.NewClientKey(t).Assertion(t, "keyed", g.ID), credentialsForm), http.StatusUnauthorized, "invalid_client")
}

// S08: a client whose clock is wrong is told so, if the assertion is its own.
func TestAssertionTimeErrorIsExplained(t *testing.T) {
	g, _, key := startKeyed(t)
	stranger := harness.NewClientKey(t)
	for name, c := range map[string]struct {
		key    harness.ClientKey
		client string
		off    time.Duration
		says   string
	}{
		"S08 late":               {key, "keyed", -3 * time.Minute, "client_assertion has expired"},
		"S08 early":              {key, "keyed", 3 * time.Minute, "client_assertion is not valid yet"},
		"S08 late and forged":    {stranger, "keyed", -3 * time.Minute, "unknown or its authentication failed"},
		"S08 late, of nobody":    {key, "nobody", -3 * time.Minute, "unknown or its authentication failed"},
		"S08 late, of a secret":  {key, "machine", -3 * time.Minute, "unknown or its authentication failed"},
		"S08 early and forged":   {stranger, "keyed", 3 * time.Minute, "unknown or its authentication failed"},
		"S08 in time and forged": {stranger, "keyed", 0, "unknown or its authentication failed"},
	} {
		t.Run(name, func(t *testing.T) {
			p := asserting(t, g.ID+"/token", c.key.AssertionAt(t, c.client, g.ID, time.Now().Add(c.off)), credentialsForm)
			wantOAuth(t, p, http.StatusUnauthorized, "invalid_client")
			if text, _ := p.JSON(t)["error_description"].(string); !strings.Contains(text, c.says) {
				t.Errorf("%s", p.Body)
			}
		})
	}
	if p := asserting(t, g.ID+"/token", key.AssertionAt(t, "keyed", g.ID, time.Now().Add(-100*time.Second)), credentialsForm); p.Status != http.StatusOK {
		t.Errorf("S08 40 seconds late is tolerated: %d %s", p.Status, p.Body)
	}
}

// A29: what is not ours is not supported and never fetched.
func TestForeignRequestURIIsNeverFetched(t *testing.T) {
	g, up := start(t)
	canary := "http://" + up.Addr + "/request.jwt"
	wantError(t, g, harness.NewBrowser(t, g.ID).Get(authorizeURL(g, "web", "request_uri", canary)), callback, "request_uri_not_supported")
	p := send(t, harness.NewBrowser(t, ""), http.MethodPost, g.ID+"/par", url.Values{
		"client_id": {web.ID}, "client_secret": {web.Secret}, "request_uri": {canary}, "redirect_uri": {callback}, "response_type": {"code"}, "state": {"S"},
	}.Encode())
	wantOAuth(t, p, http.StatusBadRequest, "invalid_request")
	wantPage(t, harness.NewBrowser(t, g.ID).Get(g.ID+"/authorize?client_id=web&request_uri="+url.QueryEscape("urn:ietf:params:oauth:request_uri:"+strings.Repeat("A", 43))), http.StatusBadRequest)
	wantHits(t, up, 0)
}
