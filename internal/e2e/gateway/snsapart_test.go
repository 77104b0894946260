package gateway

import (
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/gatehouse/gatehouse/internal/testkit/harness"
)

var portal = harness.Credentials{ID: "portal", Secret: portalSecret}

// B11, both ways: what one dialect issues is nothing at the other.
func TestDialectsRefuseEachOthersCodesAndTokens(t *testing.T) {
	g, _, _ := startSNS(t)
	access, refresh := tokens(t, g, web)
	sns := snsSignIn(t, g, "alice", "portal")
	theirs, ours := snsCode(t, g, "alice", "portal"), code(t, g, "web")

	// A site of Variant B, with its own secret, at OAuth's endpoints.
	for name, p := range map[string]harness.Page{
		"its code":                g.Token(t, portal, exchange(theirs, snsCallback)),
		"its refresh token":       g.Token(t, portal, refreshWith(sns.refresh)),
		"client_credentials":      g.Token(t, portal, credentialsForm),
		"a code of OAuth":         g.Token(t, portal, exchange(ours, callback)),
		"/par":                    at(t, g, "/par", portal, url.Values{"response_type": {"code"}, "redirect_uri": {snsCallback}, "scope": {"read"}, "state": {"S"}}),
		"/revoke":                 at(t, g, "/revoke", portal, tokenForm(sns.access)),
		"/revoke, a refresh":      at(t, g, "/revoke", portal, tokenForm(sns.refresh)),
		"/introspect":             at(t, g, "/introspect", portal, tokenForm(sns.access)),
		"/introspect, an OAuth's": at(t, g, "/introspect", portal, tokenForm(access)),
	} {
		if p.Status != http.StatusBadRequest || p.JSON(t)["error"] != "unauthorized_client" {
			t.Errorf("%s: %d %s", name, p.Status, p.Body)
		}
	}
	wantOAuth(t, g.Token(t, harness.Credentials{ID: "portal", Secret: "wrong"}, exchange(theirs, snsCallback)), 401, "invalid_client")
	for _, address := range []string{
		g.ID + "/authorize?client_id=portal&response_type=code&scope=read&state=S&redirect_uri=" + url.QueryEscape(snsCallback),
		g.ID + "/connect/oauth2/authorize?appid=web&response_type=code&scope=snsapi_userinfo&state=S&redirect_uri=" + url.QueryEscape(callback),
	} {
		if p := harness.NewBrowser(t, g.ID).Get(address); p.Status != http.StatusBadRequest || p.Header.Get("Location") != "" {
			t.Errorf("%s: %d", address, p.Status)
		}
	}

	// A client of OAuth that holds what is Variant B's.
	wantOAuth(t, g.Token(t, web, exchange(theirs, snsCallback)), 400, "invalid_grant")
	wantOAuth(t, g.Token(t, web, refreshWith(sns.refresh)), 400, "invalid_grant")
	wantInactive(t, at(t, g, "/introspect", web, tokenForm(sns.refresh)))
	if p := at(t, g, "/revoke", web, tokenForm(sns.refresh)); p.Status != http.StatusOK { // as a string nobody knows
		t.Errorf("%d %s", p.Status, p.Body)
	}
	wantOAuth(t, at(t, g, "/revoke", web, tokenForm(sns.access)), 400, "unauthorized_client")
	if p := harness.Send(t, http.DefaultClient, "GET", g.ID+"/userinfo", "", "Authorization", "Bearer "+sns.access); p.Status != http.StatusUnauthorized || strings.Contains(p.Body, "u-1") {
		t.Errorf("/userinfo: %d %s", p.Status, p.Body)
	}

	// OAuth's codes and tokens at the addresses of Variant B.
	wantSNS(t, snsGet(t, g, "oauth2/access_token", snsExchange("portal", ours)), 400, "invalid_grant", "code", 40029)
	wantSNS(t, snsGet(t, g, "oauth2/refresh_token", snsRefresh("portal", refresh)), 400, "invalid_grant", "refresh_token", 40030)
	for _, openid := range []string{sns.openid, "u-1"} {
		wantSNS(t, snsGet(t, g, "userinfo", url.Values{"access_token": {access}, "openid": {openid}}), 401, "invalid_token", "access_token", 40001)
	}

	// None of it used anything up.
	wantSNSTokens(t, snsGet(t, g, "oauth2/access_token", snsExchange("portal", theirs)))
	wantTokens(t, g.Token(t, web, exchange(ours, callback)))
	wantSNSTokens(t, snsGet(t, g, "oauth2/refresh_token", snsRefresh("portal", sns.refresh)))
	wantTokens(t, g.Token(t, web, refreshWith(refresh)))
}

func TestVariantBIntrospectionUsesTheSitesSubject(t *testing.T) {
	g, _, _ := startFaulty(t, "$GLOBAL", snsClients+"\n\t\t"+resourceServerClient)
	sns := snsSignIn(t, g, "alice", "portal", "scope", "snsapi_userinfo,read")
	m := wantActive(t, at(t, g, "/introspect", resourceServer, tokenForm(sns.access)))
	if m["sub"] != sns.openid || m["client_id"] != "portal" || m["scope"] != "snsapi_userinfo read" || m["token_use"] != "access_token" {
		t.Errorf("%v", m)
	}
	wantInactive(t, at(t, g, "/introspect", resourceServer, tokenForm(sns.refresh)))
}

func TestAccountPageEndsVariantBGrants(t *testing.T) {
	g, _, _ := startSNS(t)
	sns := snsSignIn(t, g, "alice", "portal")
	pending := snsCode(t, g, "alice", "portal")
	b := harness.NewBrowser(t, g.ID)
	p := accountOf(t, g, b, username)
	if !strings.Contains(p.Body, "Portal") {
		t.Fatalf("the site is not on the page: %s", p.Body)
	}
	p = press(b, p, "withdraw", harness.Buttons(t, p, "withdraw")[0])
	if p.Status != http.StatusOK || strings.Contains(p.Body, ">Portal<") {
		t.Errorf("%d %s", p.Status, p.Body)
	}
	wantSNS(t, snsGet(t, g, "userinfo", sns.asks()), 401, "invalid_token", "access_token", 40001)
	wantSNS(t, snsGet(t, g, "oauth2/refresh_token", snsRefresh("portal", sns.refresh)), 400, "invalid_grant", "refresh_token", 40030)
	wantSNS(t, snsGet(t, g, "oauth2/access_token", snsExchange("portal", pending)), 400, "invalid_grant", "code", 40029)
	if p := bearer(t, g, "/read", sns.access); p.Status != http.StatusUnauthorized {
		t.Errorf("%d", p.Status)
	}
	// Who comes again is the same person to the site.
	if again := snsSignIn(t, g, "alice", "portal"); again.openid != sns.openid {
		t.Errorf("%s after %s", again.openid, sns.openid)
	}
}

func TestLockedUserIsInvalidInVariantB(t *testing.T) {
	g, _, _ := startSNS(t)
	sns, code := snsSignIn(t, g, "alice", "portal"), snsCode(t, g, "alice", "portal")
	rewriteUsers(t, g, lockedUsers)
	wantSNS(t, snsGet(t, g, "userinfo", sns.asks()), 401, "invalid_token", "access_token", 40001)
	wantSNS(t, snsGet(t, g, "oauth2/access_token", snsExchange("portal", code)), 400, "invalid_grant", "code", 40029)
	wantSNS(t, snsGet(t, g, "oauth2/refresh_token", snsRefresh("portal", sns.refresh)), 400, "invalid_grant", "refresh_token", 40030)
	rewriteUsers(t, g, users)
	wantSNS(t, snsGet(t, g, "oauth2/refresh_token", snsRefresh("portal", sns.refresh)), 400, "invalid_grant", "refresh_token", 40030)
}

// A change of the secret costs sites a new sign-in of their users, and never who they are.
func TestOpenIDIsStableAcrossASecretChange(t *testing.T) {
	g, _, _ := startSNS(t)
	before := snsSignIn(t, g, "alice", "portal")
	t.Setenv("GATEHOUSE_TEST_NEW", "another master secret of the tests, 0123456789")
	g.Load(t, strings.Replace(faultySite, "secret {env.GATEHOUSE_TEST_SECRET}", "secret {env.GATEHOUSE_TEST_NEW}\n\t\tsecret {env.GATEHOUSE_TEST_SECRET}", 1))
	if p := snsGet(t, g, "userinfo", before.asks()); p.Status != http.StatusOK {
		t.Errorf("%d %s", p.Status, p.Body)
	}
	wantSNSTokens(t, snsGet(t, g, "oauth2/refresh_token", snsRefresh("portal", before.refresh)))
	after := snsSignIn(t, g, "alice", "portal")
	if after.openid != before.openid || after.unionid != before.unionid {
		t.Errorf("%+v after %+v", after, before)
	}
}

// PKCE is for the libraries that send it: then it counts.
func TestVariantBCodeWithChallengeNeedsVerifier(t *testing.T) {
	g, _, _ := startSNS(t)
	c := snsCode(t, g, "alice", "portal", "code_challenge", harness.Challenge(harness.Verifier), "code_challenge_method", "S256")
	form := snsExchange("portal", c)
	wantSNS(t, snsGet(t, g, "oauth2/access_token", form), 400, "invalid_grant", "code_verifier", 40029)
	wantSNS(t, snsGet(t, g, "oauth2/access_token", with(form, "code_verifier", strings.Repeat("x", 43))), 400, "invalid_grant", "code_verifier", 40029)
	wantSNSTokens(t, snsGet(t, g, "oauth2/access_token", with(form, "code_verifier", harness.Verifier)))
}

func TestVariantBIsAuditedAndCounted(t *testing.T) {
	g := audited(t, "$GLOBAL", snsClients)
	redeemed := snsCode(t, g, "alice", "portal")
	sns := wantSNSTokens(t, snsGet(t, g, "oauth2/access_token", snsExchange("portal", redeemed)))
	snsGet(t, g, "oauth2/access_token", with(snsExchange("portal", redeemed), "secret", "wrong"))
	snsGet(t, g, "oauth2/access_token", snsExchange("portal", redeemed))
	snsGet(t, g, "oauth2/refresh_token", snsRefresh("portal", sns.refresh))
	for event, want := range map[string]map[string]any{
		"issue":       {"subject": "u-1", "client": "portal", "scopes": "snsapi_userinfo", "reason": "authorization_code"},
		"client_auth": {"client": "portal", "reason": "refused"},
		"code_reuse":  {"subject": "u-1", "client": "portal"},
	} {
		l := trailOf(t, g, event)
		for name, value := range want {
			if field(l, name) != value {
				t.Errorf("%s: %s is %v, want %v", event, name, l[name], value)
			}
		}
	}
	for _, series := range []string{
		`grant="variantb_authorization_code",outcome="issued"`, `grant="variantb_authorization_code",outcome="invalid_client"`,
		`grant="variantb_authorization_code",outcome="invalid_grant"`, `grant="variantb_refresh_token",outcome="invalid_grant"`,
	} {
		if n := g.Metric(t, "caddy_gatehouse_token_requests_total{"+series+"}"); n < 1 {
			t.Errorf("%s: %v", series, n)
		}
	}
}

// B33, E18: all of it travels in addresses, and none of it is in a log.
func TestLogsHaveNoVariantBSecrets(t *testing.T) {
	g := logged(t, "$GLOBAL", snsClients)
	var secrets harness.Canaries
	redeemed, random := snsCode(t, g, "alice", "portal"), strings.Repeat("canary-", 6)
	sns := wantSNSTokens(t, snsGet(t, g, "oauth2/access_token", snsExchange("portal", redeemed)))
	for name, value := range map[string]string{
		"the code": redeemed, "the secret": portalSecret, "a wrong one": random, "the access token": sns.access,
		"the refresh token": sns.refresh, "the openid": sns.openid, "the unionid": sns.unionid,
	} {
		secrets.Plant(t, name, value)
	}
	snsGet(t, g, "oauth2/refresh_token", snsRefresh("portal", sns.refresh))
	snsGet(t, g, "userinfo", sns.asks())
	snsGet(t, g, "userinfo", with(sns.asks(), "access_token", "-"), "Authorization", "Bearer "+sns.access)
	for _, path := range []string{"auth", "userinfo", "oauth2/access_token", "oauth2/refresh_token", "oauth2/access_token/", "Userinfo"} {
		for _, form := range []url.Values{sns.asks(), snsExchange("portal", random), snsRefresh("portal", random), {random: {""}}} {
			snsGet(t, g, path, form)
			snsPost(t, g, path, form)
		}
	}
	snsGet(t, g, "userinfo", sns.asks())                                 // now dead
	snsGet(t, g, "oauth2/access_token", snsExchange("portal", redeemed)) // a replay is logged
	all := lines(t, g, "id.log", 52)
	shown := false
	for _, l := range all {
		uri, _ := field(l, "request", "uri").(string)
		shown = shown || strings.Contains(uri, "/sns/oauth2/access_token?appid=portal&code=REDACTED&grant_type=authorization_code&secret=REDACTED")
	}
	if !shown {
		t.Error("the lines do not say what was asked")
	}
	for _, name := range []string{"id.log", "default.log"} {
		raw, err := os.ReadFile(filepath.Join(g.Dir, name))
		if err != nil {
			t.Fatal(err)
		}
		for _, found := range secrets.Find(string(raw)) {
			t.Errorf("%s is in %s", found, name)
		}
	}
}
