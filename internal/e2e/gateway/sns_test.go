package gateway

import (
	"encoding/base64"
	"errors"
	"net/http"
	"net/url"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/gatehouse/gatehouse/internal/testkit/harness"
)

// B01, B02, B14: what a site is given, however it sends its parameters, and what it can do
// with it.
func TestVariantBSiteGetsTokensAndProfile(t *testing.T) {
	g, up, _ := startSNS(t)
	rewriteUsers(t, g, snsUsers)
	var tokens snsTokens
	for name, redeem := range map[string]func(url.Values) harness.Page{
		"query of a GET": func(v url.Values) harness.Page { return snsGet(t, g, "oauth2/access_token", v) },
		"form of a POST": func(v url.Values) harness.Page { return snsPost(t, g, "oauth2/access_token", v) },
		"B01 query of a POST": func(v url.Values) harness.Page {
			return harness.Send(t, http.DefaultClient, "POST", g.ID+"/sns/oauth2/access_token?"+v.Encode(), "", "X-Forwarded-For", somebody())
		},
		"half in each, twice the same, and parameters of OAuth": func(v url.Values) harness.Page {
			q := url.Values{"appid": v["appid"], "secret": v["secret"]}
			form := with(with(with(v, "client_id", "x"), "client_secret", "y"), "redirect_uri", snsCallback)
			return harness.Send(t, http.DefaultClient, "POST", g.ID+"/sns/oauth2/access_token?"+q.Encode(), form.Encode(),
				"X-Forwarded-For", somebody(), "Authorization", "Basic cG9ydGFsOndyb25n")
		},
	} {
		t.Run(name, func(t *testing.T) {
			again := wantSNSTokens(t, redeem(snsExchange("portal", snsCode(t, g, "alice", "portal", "scope", "snsapi_userinfo,read"))))
			if again.life != 7200 || again.scope != "snsapi_userinfo,read" {
				t.Errorf("%+v", again)
			}
			if tokens.openid != "" && (again.openid != tokens.openid || again.unionid != tokens.unionid || again.access == tokens.access) {
				t.Errorf("B14 %+v and %+v", tokens, again)
			}
			tokens = again
		})
	}
	t.Run("B14 names", func(t *testing.T) {
		kiosk, shop := snsSignIn(t, g, "alice", "kiosk"), snsSignIn(t, g, "alice", "shop")
		bob := snsSignIn(t, g, "bob", "portal")
		names := map[string]bool{}
		for _, name := range []string{tokens.openid, tokens.unionid, kiosk.openid, shop.openid, shop.unionid, bob.openid, bob.unionid} {
			if len(name) != 28 || name[0] != 'o' || names[name] {
				t.Errorf("%s", name)
			}
			names[name] = true
		}
		if kiosk.unionid != tokens.unionid {
			t.Error("two sites of one owner were told different unionids")
		}
	})
	t.Run("the profile", func(t *testing.T) {
		want := map[string]any{
			"openid": tokens.openid, "unionid": tokens.unionid, "nickname": "张 é <Al>", "sex": 2.0, "province": "Oxfordshire",
			"city": "Oxford", "country": "GB", "headimgurl": "https://pictures.example/a.png?s=1&t=2",
		}
		for name, p := range map[string]harness.Page{
			"in the query": snsGet(t, g, "userinfo", with(tokens.asks(), "lang", "zh_CN")),
			"as a form":    snsPost(t, g, "userinfo", tokens.asks()),
			"in a header":  snsGet(t, g, "userinfo", with(tokens.asks(), "access_token", "-"), "Authorization", "Bearer "+tokens.access),
			"in both":      snsGet(t, g, "userinfo", tokens.asks(), "Authorization", "bearer "+tokens.access),
		} {
			wantSNSHeader(t, p, "application/json")
			m := p.JSON(t)
			list, ok := m["privilege"].([]any)
			if p.Status != http.StatusOK || !ok || len(list) != 0 || len(m) != len(want)+1 || strings.Contains(p.Body, "u-1") || strings.Contains(p.Body, "Christ") {
				t.Errorf("%s: %d %s", name, p.Status, p.Body)
			}
			for member, value := range want {
				if m[member] != value {
					t.Errorf("%s: %s is %v, want %v", name, member, m[member], value)
				}
			}
		}
		bob := snsSignIn(t, g, "bob", "portal")
		if m := snsGet(t, g, "userinfo", bob.asks()).JSON(t); m["nickname"] != "bob" || m["sex"] != 0.0 || m["headimgurl"] != "" || m["city"] != "" {
			t.Errorf("of somebody with a user name alone: %v", m)
		}
	})
	t.Run("the content type", func(t *testing.T) {
		kiosk, shop := snsSignIn(t, g, "alice", "kiosk"), snsSignIn(t, g, "alice", "shop")
		for _, c := range []struct {
			of          snsTokens
			agent, want string
		}{
			{tokens, "", "application/json"}, {tokens, "Go-http-client/1.1", "application/json"},
			// S01: a customer's own program sends the name of its HTTP client.
			{tokens, "python-requests/2.28.1", "application/json"}, {tokens, "social-auth-4.3.0", "text/plain"},
			{tokens, "Mozilla/5.0 (social-auth-4)", "application/json"}, {kiosk, "python-requests/2.28.1", "text/plain"},
			{kiosk, "", "text/plain"}, {kiosk, "node", "text/plain"},
			{shop, "python-requests/2.28.1", "application/json"},
		} {
			p := snsGet(t, g, "userinfo", c.of.asks(), "User-Agent", c.agent)
			wantSNSHeader(t, p, c.want)
			if p.Status != http.StatusOK || !strings.Contains(p.Body, `"openid":"`+c.of.openid) || c.want == "text/plain" && !strings.Contains(p.Body, "张 é") {
				t.Errorf("%+v: %d %s", c, p.Status, p.Body)
			}
		}
		// Libraries that want text for names want nothing but JSON elsewhere.
		p := snsGet(t, g, "auth", kiosk.asks(), "User-Agent", "python-requests/2.28.1")
		if wantSNSHeader(t, p, "application/json"); p.Body != `{"errcode":0,"errmsg":"ok"}` {
			t.Errorf("%s", p.Body)
		}
		wantSNS(t, snsGet(t, g, "userinfo", with(kiosk.asks(), "openid", "-")), 400, "invalid_parameter", "openid", 41009)
	})
	t.Run("the guard knows the user, the token does not tell", func(t *testing.T) {
		up.Hits()
		if p := bearer(t, g, "/read", tokens.access); p.Status != http.StatusOK {
			t.Fatalf("%d %s", p.Status, p.Body)
		}
		h := wantHits(t, up, 1)[0].Header
		if h.Get("X-Auth-Subject") != "u-1" || h.Get("X-Auth-Client") != "portal" || h.Get("X-Auth-Scopes") != "snsapi_userinfo read" {
			t.Errorf("%v", h)
		}
		if claims := claimsOf(t, tokens.access); claims["sub"] != tokens.openid {
			t.Errorf("%v", claims)
		}
		for _, part := range strings.Split(tokens.access, ".")[:2] {
			if plain, err := base64.RawURLEncoding.DecodeString(part); err != nil || strings.Contains(string(plain), "u-1") {
				t.Errorf("the token says %s", plain)
			}
		}
	})
}

// B12: the refresh token stays as it is, and so do the access tokens.
func TestVariantBRefreshNeedsNoSecretAndRevokesNothing(t *testing.T) {
	g, _, _ := startSNS(t)
	first := snsSignIn(t, g, "alice", "portal")
	for range 3 {
		next := wantSNSTokens(t, snsGet(t, g, "oauth2/refresh_token", snsRefresh("portal", first.refresh)))
		if next.refresh != first.refresh || next.access == first.access || next.openid != first.openid || next.unionid != first.unionid ||
			next.scope != first.scope || next.life != first.life {
			t.Errorf("%+v after %+v", next, first)
		}
		if p := snsGet(t, g, "userinfo", next.asks()); p.Status != http.StatusOK {
			t.Errorf("%d %s", p.Status, p.Body)
		}
	}
	var all sync.WaitGroup
	for range 16 {
		all.Go(func() {
			if p := snsPost(t, g, "oauth2/refresh_token", snsRefresh("portal", first.refresh)); p.Status != http.StatusOK {
				t.Errorf("at once: %d %s", p.Status, p.Body)
			}
		})
	}
	all.Wait()
	if p := snsGet(t, g, "auth", first.asks()); p.Body != `{"errcode":0,"errmsg":"ok"}` {
		t.Errorf("the first access token: %s", p.Body)
	}
}

// Every row of the table of failures that needs no clock and no broken store: B02, B03,
// B04, B05, B06, B07, B08, B12, B13.
func TestEveryVariantBFailureHasItsCodeAndMessage(t *testing.T) {
	g, _, _ := startSNS(t)
	alice := snsSignIn(t, g, "alice", "portal", "scope", "snsapi_userinfo")
	bob := snsSignIn(t, g, "bob", "portal")
	base := snsSignIn(t, g, "alice", "portal", "scope", "snsapi_base")
	spare := snsCode(t, g, "alice", "portal") // what fails here must leave it alive
	swapped := strings.Map(func(r rune) rune {
		switch {
		case 'a' <= r && r <= 'z':
			return r - 'a' + 'A'
		case 'A' <= r && r <= 'Z':
			return r - 'A' + 'a'
		}
		return r
	}, spare)
	exchange, refresh, ask := snsExchange("portal", spare), snsRefresh("portal", alice.refresh), alice.asks()
	const token, again = "oauth2/access_token", "oauth2/refresh_token"
	for _, c := range []struct {
		name, path  string
		form        url.Values
		status      int
		code, field string
		errcode     int
	}{
		{"B04 appid missing", token, with(exchange, "appid", "-"), 400, "invalid_parameter", "appid", 41002},
		{"B04 appid empty", token, with(exchange, "appid", ""), 400, "invalid_parameter", "appid", 41002},
		{"B05 secret missing", token, with(exchange, "secret", "-"), 400, "invalid_parameter", "secret", 41004},
		{"B06 code missing", token, with(exchange, "code", "-"), 400, "invalid_parameter", "code", 41008},
		{"B07 grant_type missing", token, with(exchange, "grant_type", "-"), 400, "unsupported_grant_type", "grant_type", 40002},
		{"B07 grant_type of the other address", token, with(exchange, "grant_type", "refresh_token"), 400, "unsupported_grant_type", "grant_type", 40002},
		{"B07 grant_type of OAuth", token, with(exchange, "grant_type", "client_credentials"), 400, "unsupported_grant_type", "grant_type", 40002},
		{"B07 grant_type in capitals", token, with(exchange, "grant_type", "Authorization_Code"), 400, "unsupported_grant_type", "grant_type", 40002},
		{"B04 appid unknown", token, with(exchange, "appid", "nobody"), 401, "invalid_client", "appid", 40013},
		{"B04 appid in capitals", token, with(exchange, "appid", "PORTAL"), 401, "invalid_client", "appid", 40013},
		{"B04 appid of 20 kilobytes", token, with(exchange, "appid", strings.Repeat("a", 20<<10)), 401, "invalid_client", "appid", 40013},
		{"B11 a client of OAuth", token, with(with(exchange, "appid", "web"), "secret", web.Secret), 401, "invalid_client", "appid", 40013},
		{"B05 secret wrong", token, with(exchange, "secret", kioskSecret), 401, "invalid_client", "secret", 40125},
		{"B05 secret of 20 kilobytes", token, with(exchange, "secret", strings.Repeat("a", 20<<10)), 401, "invalid_client", "secret", 40125},
		{"B06 code random", token, with(exchange, "code", strings.Repeat("x", 43)), 400, "invalid_grant", "code", 40029},
		{"B06 code of 20 kilobytes", token, with(exchange, "code", strings.Repeat("x", 20<<10)), 400, "invalid_grant", "code", 40029},
		{"B08 code in the other case", token, with(exchange, "code", swapped), 400, "invalid_grant", "code", 40029},
		{"B06 another client's code", token, snsExchange("shop", spare), 400, "invalid_grant", "code", 40029},
		{"redirect_uri of another request", token, with(exchange, "redirect_uri", snsCallback+"?next=1"), 400, "invalid_grant", "redirect_uri", 40029},
		{"a verifier without a challenge", token, with(exchange, "code_verifier", harness.Verifier), 400, "invalid_grant", "code_verifier", 40029},
		{"B12 appid missing", again, with(refresh, "appid", "-"), 400, "invalid_parameter", "appid", 41002},
		{"B12 refresh_token missing", again, with(refresh, "refresh_token", "-"), 400, "invalid_parameter", "refresh_token", 41003},
		{"B12 grant_type missing", again, with(refresh, "grant_type", "-"), 400, "unsupported_grant_type", "grant_type", 40002},
		{"B12 grant_type of the other address", again, with(refresh, "grant_type", "authorization_code"), 400, "unsupported_grant_type", "grant_type", 40002},
		{"B12 appid unknown", again, with(refresh, "appid", "nobody"), 401, "invalid_client", "appid", 40013},
		{"B12 appid of a client of OAuth", again, with(refresh, "appid", "web"), 401, "invalid_client", "appid", 40013},
		{"B12 refresh_token random", again, with(refresh, "refresh_token", strings.Repeat("x", 75)), 400, "invalid_grant", "refresh_token", 40030},
		{"B12 refresh_token of another client", again, with(refresh, "appid", "kiosk"), 400, "invalid_grant", "refresh_token", 40030},
		{"B12 an access token", again, with(refresh, "refresh_token", alice.access), 400, "invalid_grant", "refresh_token", 40030},
		{"access_token missing", "userinfo", with(ask, "access_token", "-"), 401, "invalid_token", "access_token", 41001},
		{"access_token random", "userinfo", with(ask, "access_token", "x.y.z"), 401, "invalid_token", "access_token", 40001},
		{"access_token changed", "userinfo", with(ask, "access_token", alice.access[:len(alice.access)-6]+"AAAAAA"), 401, "invalid_token", "access_token", 40001},
		{"a refresh token", "userinfo", with(ask, "access_token", alice.refresh), 401, "invalid_token", "access_token", 40001},
		{"B13 openid missing", "userinfo", with(ask, "openid", "-"), 400, "invalid_parameter", "openid", 41009},
		{"B13 openid of somebody else", "userinfo", with(ask, "openid", bob.openid), 403, "forbidden", "openid", 40003},
		{"B13 unionid for openid", "userinfo", with(ask, "openid", alice.unionid), 403, "forbidden", "openid", 40003},
		{"B13 the user's id", "userinfo", with(ask, "openid", "u-1"), 403, "forbidden", "openid", 40003},
		{"B13 scope lacking", "userinfo", base.asks(), 403, "insufficient_scope", "", 48001},
		{"auth: access_token missing", "auth", with(ask, "access_token", "-"), 401, "invalid_token", "access_token", 41001},
		{"auth: access_token random", "auth", with(ask, "access_token", "x"), 401, "invalid_token", "access_token", 40001},
		{"auth: openid missing", "auth", with(ask, "openid", "-"), 400, "invalid_parameter", "openid", 41009},
		{"auth: openid of somebody else", "auth", with(ask, "openid", bob.openid), 403, "forbidden", "openid", 40003},
		{"B02 two values", token, url.Values{"appid": {"portal", "shop"}, "secret": exchange["secret"]}, 400, "invalid_parameter", "appid", 40035},
		{"B02 two codes", token, url.Values{"appid": {"portal"}, "code": {"a", "b"}}, 400, "invalid_parameter", "code", 40035},
		{"B02 two refresh tokens", again, url.Values{"appid": {"portal"}, "refresh_token": {"a", "b"}}, 400, "invalid_parameter", "refresh_token", 40035},
		{"B02 two access tokens", "userinfo", url.Values{"access_token": {"a", "b"}}, 400, "invalid_parameter", "access_token", 40035},
		{"no UTF-8", "auth", with(ask, "openid", "\xff"), 400, "invalid_parameter", "", 40035},
		{"NUL", token, with(exchange, "appid", "portal\x00"), 400, "invalid_parameter", "", 40035},
	} {
		t.Run(c.name, func(t *testing.T) {
			wantSNS(t, snsGet(t, g, c.path, c.form), c.status, c.code, c.field, c.errcode)
			wantSNS(t, snsPost(t, g, c.path, c.form), c.status, c.code, c.field, c.errcode)
		})
	}
	for _, path := range []string{token, again, "auth", "userinfo"} {
		at := g.ID + "/sns/" + path
		for _, method := range []string{"PUT", "DELETE", "OPTIONS", "PATCH"} { // B03
			p := harness.Send(t, http.DefaultClient, method, at+"?"+exchange.Encode(), "")
			if wantSNS(t, p, 405, "method_not_allowed", "", 43002); p.Header.Get("Allow") != "GET, POST" {
				t.Errorf("%v", p.Header)
			}
		}
		wantSNS(t, harness.Send(t, http.DefaultClient, "POST", at, `{"appid":"portal"}`, "Content-Type", "application/json"), 415, "invalid_parameter", "", 40035)
		wantSNS(t, harness.Send(t, http.DefaultClient, "POST", at, "appid="+strings.Repeat("a", 70<<10)), 413, "invalid_parameter", "", 40035)
		wantSNS(t, harness.Send(t, http.DefaultClient, "GET", at+"?"+strings.Repeat("a=1&", 101), ""), 400, "invalid_parameter", "", 40035)
	}
	split := harness.Send(t, http.DefaultClient, "POST", g.ID+"/sns/"+token+"?appid=shop", exchange.Encode())
	wantSNS(t, split, 400, "invalid_parameter", "appid", 40035)
	header := snsGet(t, g, "userinfo", ask, "Authorization", "Bearer "+bob.access)
	wantSNS(t, header, 400, "invalid_parameter", "access_token", 40035)

	// None of it used the code up, or killed anything.
	last := wantSNSTokens(t, snsGet(t, g, token, exchange))
	for _, living := range []snsTokens{alice, last} {
		if p := snsGet(t, g, "auth", living.asks()); p.Status != http.StatusOK {
			t.Errorf("%d %s", p.Status, p.Body)
		}
	}
}

// B06: a used code kills what it gave, refresh token and all, and nothing else.
func TestReplayedVariantBCodeRevokesItsGrant(t *testing.T) {
	g, _, _ := startSNS(t)
	other := snsSignIn(t, g, "alice", "portal")
	code := snsCode(t, g, "alice", "portal")
	first := wantSNSTokens(t, snsGet(t, g, "oauth2/access_token", snsExchange("portal", code)))
	// Whoever only saw the code signs nobody out.
	wantSNS(t, snsGet(t, g, "oauth2/access_token", snsExchange("shop", code)), 400, "invalid_grant", "code", 40029)
	wantSNS(t, snsGet(t, g, "oauth2/access_token", with(snsExchange("portal", code), "secret", shopSecret)), 401, "invalid_client", "secret", 40125)
	second := wantSNSTokens(t, snsGet(t, g, "oauth2/refresh_token", snsRefresh("portal", first.refresh)))
	for range 2 {
		wantSNS(t, snsGet(t, g, "oauth2/access_token", snsExchange("portal", code)), 400, "invalid_grant", "code", 40163)
	}
	for _, dead := range []snsTokens{first, second} {
		wantSNS(t, snsGet(t, g, "userinfo", dead.asks()), 401, "invalid_token", "access_token", 40001)
		wantSNS(t, snsGet(t, g, "auth", dead.asks()), 401, "invalid_token", "access_token", 40001)
	}
	wantSNS(t, snsGet(t, g, "oauth2/refresh_token", snsRefresh("portal", first.refresh)), 400, "invalid_grant", "refresh_token", 40030)
	if p := bearer(t, g, "/read", second.access); p.Status != http.StatusUnauthorized {
		t.Errorf("%d %s", p.Status, p.Body)
	}
	if p := snsGet(t, g, "auth", other.asks()); p.Status != http.StatusOK {
		t.Errorf("the other sign-in: %d %s", p.Status, p.Body)
	}
}

// The rows that need a clock: B06, B12, B13.
func TestExpiredVariantBErrorsHaveTheirOwnCodes(t *testing.T) {
	g, _, _ := startSNS(t, "$TOKENS", "code 1s\n\t\t\taccess 2s\n\t\t\trefresh 3s")
	late := snsCode(t, g, "alice", "portal")
	tokens := snsSignIn(t, g, "alice", "portal")
	if tokens.life != 2 {
		t.Errorf("expires_in is %v", tokens.life)
	}
	time.Sleep(1100 * time.Millisecond)
	wantSNS(t, snsGet(t, g, "oauth2/access_token", snsExchange("portal", late)), 400, "invalid_grant", "code", 42003)
	time.Sleep(time.Second)
	wantSNS(t, snsGet(t, g, "userinfo", tokens.asks()), 401, "invalid_token", "access_token", 42001)
	wantSNS(t, snsGet(t, g, "auth", tokens.asks()), 401, "invalid_token", "access_token", 42001)
	time.Sleep(time.Second)
	wantSNS(t, snsGet(t, g, "oauth2/refresh_token", snsRefresh("portal", tokens.refresh)), 400, "invalid_grant", "refresh_token", 42002)
	time.Sleep(2200 * time.Millisecond) // the store has forgotten the family
	wantSNS(t, snsGet(t, g, "oauth2/refresh_token", snsRefresh("portal", tokens.refresh)), 400, "invalid_grant", "refresh_token", 42002)
}

// The row of a store that is away: never an answer about a code or a client.
func TestVariantBWithoutItsStoreIs503(t *testing.T) {
	g, _, m := startSNS(t)
	code, tokens := snsCode(t, g, "alice", "portal"), snsSignIn(t, g, "alice", "portal")
	m.Fail(errors.New("canary of the store"))
	for path, form := range map[string]url.Values{
		"oauth2/access_token": snsExchange("portal", code), "oauth2/refresh_token": snsRefresh("portal", tokens.refresh),
		"userinfo": tokens.asks(),
	} {
		p := snsGet(t, g, path, form)
		if wantSNS(t, p, 503, "unavailable", "", -1); strings.Contains(p.Body, "canary") {
			t.Errorf("%s", p.Body)
		}
	}
	m.Fail(nil)
	wantSNSTokens(t, snsGet(t, g, "oauth2/access_token", snsExchange("portal", code)))
	wantSNSTokens(t, snsGet(t, g, "oauth2/refresh_token", snsRefresh("portal", tokens.refresh)))
	// A reply that was lost is no replay when the site tries again.
	code = snsCode(t, g, "alice", "portal")
	m.LoseReply(errors.New("lost"))
	p := snsGet(t, g, "oauth2/access_token", snsExchange("portal", code))
	if p.Status != http.StatusOK {
		wantSNS(t, p, 503, "unavailable", "", -1)
		p = snsGet(t, g, "oauth2/access_token", snsExchange("portal", code))
	}
	wantSNSTokens(t, p)
}

// B05, T21: guesses are limited for each client and address, and others are not.
func TestVariantBSecretGuessesAreLimited(t *testing.T) {
	g, _, _ := startSNS(t)
	code := snsCode(t, g, "alice", "portal")
	const guesser = "203.0.113.7"
	right, wrong := snsExchange("portal", code), with(snsExchange("portal", code), "secret", "guess")
	guess := func(form url.Values, header ...string) harness.Page {
		return snsGet(t, g, "oauth2/access_token", form, append([]string{"X-Forwarded-For", guesser}, header...)...)
	}
	for range 10 {
		wantSNS(t, guess(wrong), 401, "invalid_client", "secret", 40125)
	}
	wantSNS(t, guess(wrong), 429, "rate_limited", "", 45009)
	wantSNS(t, guess(right), 429, "rate_limited", "", 45009)
	// The count is that of OAuth's endpoints.
	oauth := harness.Send(t, http.DefaultClient, "POST", g.ID+"/token",
		url.Values{"grant_type": {"client_credentials"}, "client_id": {"portal"}, "client_secret": {"guess"}}.Encode(), "X-Forwarded-For", guesser)
	wantOAuth(t, oauth, 429, "slow_down")
	wantSNS(t, guess(with(wrong, "appid", "nobody")), 401, "invalid_client", "appid", 40013)
	wantSNSTokens(t, snsGet(t, g, "oauth2/access_token", right))
}

// B10: of any number of parallel redemptions one succeeds, and the rest kill what it gave.
func TestParallelVariantBRedemptionsSucceedOnce(t *testing.T) {
	codes := 20
	if os.Getenv("GATEHOUSE_SOAK") != "" {
		codes = 500
	}
	g, _, _ := startSNS(t, "$TOKENS", "code 10m")
	b := harness.NewBrowser(t, g.ID)
	q := url.Values{"appid": {"portal"}, "redirect_uri": {snsCallback}, "response_type": {"code"}, "scope": {"snsapi_userinfo"}, "state": {"S"}}
	for range codes {
		form := snsExchange("portal", b.Authorize(g.ID+"/connect/oauth2/authorize?"+q.Encode(), "alice", password).Query().Get("code"))
		answers := make([]harness.Page, 64)
		var all sync.WaitGroup
		for i := range answers {
			all.Go(func() { answers[i] = snsGet(t, g, "oauth2/access_token", form) })
		}
		all.Wait()
		var won []snsTokens
		for _, p := range answers {
			if p.Status == http.StatusOK {
				won = append(won, wantSNSTokens(t, p))
			} else {
				wantSNS(t, p, 400, "invalid_grant", "code", 40163)
			}
		}
		if len(won) != 1 {
			t.Fatalf("%d of %d succeeded", len(won), len(answers))
		}
		wantSNS(t, snsGet(t, g, "auth", won[0].asks()), 401, "invalid_token", "access_token", 40001)
	}
}
