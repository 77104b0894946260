package authserver_test

import (
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/gatehouse/gatehouse/module/internal/authserver"
	"github.com/gatehouse/gatehouse/module/oauth"
	"github.com/gatehouse/gatehouse/module/store"
)

// The rows of the table of failures, in its order, each by GET and by POST, and each with
// all that a client is told: B02 to B08, B12, B13.
func TestVariantBFailureTable(t *testing.T) {
	g := newTokenRig(t)
	wx(g)
	const token, again = "oauth2/access_token", "oauth2/refresh_token"
	old := g.snsSignIn()
	g.pass(30*24*time.Hour - time.Minute)
	late := g.snsCode()
	g.pass(time.Minute) // both are over
	replayed := g.snsCode()
	g.sns(token, exchangeWX(replayed))
	spare, a := exchangeWX(g.snsCode()), g.snsSignIn()
	base := g.sns(token, exchangeWX(g.code(func(c *store.Code) {
		c.Dialect, c.Client, c.Scopes = store.DialectVariantB, "wx", []string{oauth.SNSBase}
	})))
	g.clients.mu.Lock()
	another := *g.clients.all["wx"]
	another.ID = "wy"
	g.clients.all["wy"] = &another
	g.clients.mu.Unlock()
	foreign := g.sns(token, exchangeWX(g.code(func(c *store.Code) {
		c.Dialect, c.Client, c.Subject, c.Scopes = store.DialectVariantB, "wy", "u1", []string{oauth.SNSUserinfo}
	})).with("appid", "wy"))
	broken := g.code(func(c *store.Code) {
		c.Dialect, c.Client, c.Scopes, c.Grant = store.DialectVariantB, "wx", []string{oauth.SNSLogin}, "no id"
	})
	ask, refresh := a.asks(), refreshWX(a.Refresh)
	for _, row := range []struct {
		name, path string
		p          params
		want       string
	}{
		{"missing appid", token, spare.with("appid", ""), "400 invalid_parameter appid 41002"},
		{"missing appid, refresh", again, refresh.with("appid", ""), "400 invalid_parameter appid 41002"},
		{"missing secret", token, spare.with("secret", ""), "400 invalid_parameter secret 41004"},
		{"missing code", token, spare.with("code", ""), "400 invalid_parameter code 41008"},
		{"missing refresh_token", again, refresh.with("refresh_token", ""), "400 invalid_parameter refresh_token 41003"},
		{"missing openid, userinfo", "userinfo", ask.with("openid", ""), "400 invalid_parameter openid 41009"},
		{"missing openid, auth", "auth", ask.with("openid", ""), "400 invalid_parameter openid 41009"},
		{"missing access_token, userinfo", "userinfo", ask.with("access_token", ""), "401 invalid_token access_token 41001"},
		{"missing access_token, auth", "auth", ask.with("access_token", ""), "401 invalid_token access_token 41001"},
		{"grant_type wrong", token, spare.with("grant_type", "refresh_token"), "400 unsupported_grant_type grant_type 40002"},
		{"grant_type missing", token, spare.with("grant_type", ""), "400 unsupported_grant_type grant_type 40002"},
		{"grant_type wrong, refresh", again, refresh.with("grant_type", "authorization_code"), "400 unsupported_grant_type grant_type 40002"},
		{"grant_type missing, refresh", again, refresh.with("grant_type", ""), "400 unsupported_grant_type grant_type 40002"},
		{"unknown appid", token, spare.with("appid", "nobody"), "401 invalid_client appid 40013"},
		{"unknown appid, refresh", again, refresh.with("appid", "nobody"), "401 invalid_client appid 40013"},
		{"appid of OAuth", token, spare.with("appid", "web"), "401 invalid_client appid 40013"},
		{"wrong secret", token, spare.with("secret", "wrong"), "401 invalid_client secret 40125"},
		{"code unknown", token, spare.with("code", "x"), "400 invalid_grant code 40029"},
		{"code of another client", token, spare.with("appid", "wy"), "400 invalid_grant code 40029"},
		{"code of OAuth", token, spare.with("code", g.code(func(c *store.Code) { c.Client, c.Scopes = "wx", []string{oauth.SNSLogin} })), "400 invalid_grant code 40029"},
		{"code expired", token, spare.with("code", late), "400 invalid_grant code 42003"},
		{"code used", token, spare.with("code", replayed), "400 invalid_grant code 40163"},
		{"redirect_uri of another code", token, spare.with("redirect_uri", webRedirect+"/x"), "400 invalid_grant redirect_uri 40029"},
		{"refresh token unknown", again, refresh.with("refresh_token", "x"), "400 invalid_grant refresh_token 40030"},
		{"refresh token of another client", again, refresh.with("appid", "wy"), "400 invalid_grant refresh_token 40030"},
		{"refresh token expired", again, refreshWX(old.Refresh), "400 invalid_grant refresh_token 42002"},
		{"access token invalid, userinfo", "userinfo", ask.with("access_token", "x.y.z"), "401 invalid_token access_token 40001"},
		{"access token invalid, auth", "auth", ask.with("access_token", "x.y.z"), "401 invalid_token access_token 40001"},
		{"access token of OAuth", "auth", ask.with("access_token", g.begin().tokens.Access), "401 invalid_token access_token 40001"},
		{"access token expired, userinfo", "userinfo", old.asks(), "401 invalid_token access_token 42001"},
		{"access token expired, auth", "auth", old.asks(), "401 invalid_token access_token 42001"},
		{"openid at another site, userinfo", "userinfo", ask.with("openid", foreign.OpenID), "403 forbidden openid 40003"},
		{"openid at another site, auth", "auth", ask.with("openid", foreign.OpenID), "403 forbidden openid 40003"},
		{"openid nobody has", "auth", ask.with("openid", "o"), "403 forbidden openid 40003"},
		{"openid in capitals", "auth", ask.with("openid", strings.ToUpper(a.OpenID)), "403 forbidden openid 40003"},
		{"scope lacking", "userinfo", base.asks(), "403 insufficient_scope - 48001"},
		{"our fault", token, spare.with("code", broken), "500 server_error - -1"},
	} {
		t.Run(row.name, func(t *testing.T) {
			g.t = t
			for _, method := range []string{http.MethodGet, http.MethodPost} {
				g.wantSNS(g.snsBy(method, row.path, row.p), row.want)
			}
		})
	}
	g.t = t
	t.Run("store away", func(t *testing.T) {
		g.t = t
		g.store.Fail(errLost)
		defer g.store.Fail(nil)
		for path, p := range map[string]params{token: spare, again: refresh, "userinfo": ask} {
			for _, method := range []string{http.MethodGet, http.MethodPost} {
				g.wantSNS(g.snsBy(method, path, p), "503 unavailable - -1")
			}
		}
	})
	t.Run("too often", func(t *testing.T) {
		g.t = t
		g.from("192.0.2.77")
		defer g.from("192.0.2.1")
		for range 10 {
			g.sns(token, spare.with("secret", "wrong"))
		}
		for _, method := range []string{http.MethodGet, http.MethodPost} {
			g.wantSNS(g.snsBy(method, token, spare), "429 rate_limited - 45009") // the right secret as well
		}
	})
	t.Run("no other method", func(t *testing.T) {
		g.t = t
		for _, path := range []string{token, again, "userinfo", "auth"} {
			for _, method := range []string{http.MethodHead, http.MethodPut, http.MethodDelete, http.MethodOptions} {
				a := g.snsBy(method, path, spare)
				if g.wantSNS(a, "405 method_not_allowed - 43002"); a.header.Get("Allow") != "GET, POST" {
					t.Errorf("%s %s: %v", method, path, a.header)
				}
			}
		}
	})
	// None of it used anything up, or ended anything.
	g.t = t
	if b := g.sns(token, spare); b.status != http.StatusOK {
		t.Errorf("the code: %s", b.body)
	}
	if b := g.sns(again, refresh); b.status != http.StatusOK {
		t.Errorf("the refresh token: %s", b.body)
	}
	if b := g.sns("auth", ask); b.status != http.StatusOK || b.body != `{"errcode":0,"errmsg":"ok"}` {
		t.Errorf("the access token: %s", b.body)
	}
}

func TestVariantBAccessTokenExpiresAsStated(t *testing.T) {
	for name, c := range map[string]struct {
		set  time.Duration
		want int64
	}{"by default": {0, 7200}, "as configured": {10 * time.Minute, 600}, "in whole seconds": {90*time.Second + time.Millisecond, 90}} {
		t.Run(name, func(t *testing.T) {
			g := newTokenRig(t, func(c2 *authserver.Config) { c2.Lifetimes.VariantB = c.set })
			wx(g)
			for _, a := range []sns{g.snsSignIn(), g.sns("oauth2/refresh_token", refreshWX(g.snsSignIn().Refresh))} {
				if a.Expires != c.want {
					t.Fatalf("%s", a.body)
				}
				life := time.Duration(c.want) * time.Second
				g.pass(life - time.Second)
				for _, path := range []string{"auth", "userinfo"} {
					if b := g.sns(path, a.asks()); b.status != http.StatusOK {
						t.Errorf("a second before: %s", b.body)
					}
				}
				g.pass(time.Second)
				g.wantSNS(g.sns("auth", a.asks()), "401 invalid_token access_token 42001")
				g.wantSNS(g.sns("userinfo", a.asks()), "401 invalid_token access_token 42001")
				if g.alive(a.Access) {
					t.Error("a guard takes it")
				}
				g.pass(-life)
			}
		})
	}
}

// Thirty days, and no use prolongs them; nor does the life of a code that waited.
func TestVariantBRefreshTokenExpires(t *testing.T) {
	g := newTokenRig(t)
	wx(g)
	a := g.snsSignIn()
	for range 29 {
		g.pass(24 * time.Hour)
		if b := g.sns("oauth2/refresh_token", refreshWX(a.Refresh)); b.status != http.StatusOK || b.Refresh != a.Refresh || b.OpenID != a.OpenID || b.UnionID != a.UnionID {
			t.Fatalf("%d %s", b.status, b.body)
		}
	}
	g.pass(24*time.Hour - time.Second)
	last := g.sns("oauth2/refresh_token", refreshWX(a.Refresh))
	if last.status != http.StatusOK {
		t.Fatalf("a second before: %s", last.body)
	}
	g.pass(time.Second)
	g.wantSNS(g.sns("oauth2/refresh_token", refreshWX(a.Refresh)), "400 invalid_grant refresh_token 42002")
	if b := g.sns("auth", last.asks()); b.status != http.StatusOK { // it has its own life
		t.Errorf("%s", b.body)
	}
	g.pass(90 * 24 * time.Hour) // the record is forgotten
	g.wantSNS(g.sns("oauth2/refresh_token", refreshWX(a.Refresh)), "400 invalid_grant refresh_token 42002")
}

// The life of a code begins when the browser is first told it, not when the phone confirms.
func TestQRCodeLifetimeStartsAtDelivery(t *testing.T) {
	g := newQRRig(t)
	g.clients.change("wx", func(c *oauth.Client) { c.SecretHashes = []string{digest(webSecret)} })
	for name, c := range map[string]struct {
		after time.Duration
		want  int
	}{"at its end": {59 * time.Second, 0}, "over": {60 * time.Second, 42003}} {
		s := g.confirmed(wxRequest())
		g.pass(2 * time.Minute) // the screen was asleep
		code := s.wantState(405)
		g.pass(c.after / 2)
		if again := s.wantState(405); again != code {
			t.Fatal("another code")
		}
		g.pass(c.after - c.after/2)
		if a := g.sns("oauth2/access_token", exchangeWX(code)); a.Errcode != c.want {
			t.Errorf("%s: %d %s", name, a.status, a.body)
		}
	}
}

func TestCodeOfAnEarlierClientWithSameAppIDIsInvalid(t *testing.T) {
	g := newTokenRig(t)
	wx(g)
	early, late := g.snsCode(), g.snsCode()
	first := g.sns("oauth2/access_token", exchangeWX(early))
	g.pass(time.Second)
	g.clients.mu.Lock()
	g.clients.all["wx"].Since = g.at
	g.clients.mu.Unlock()
	if a := g.sns("oauth2/access_token", exchangeWX(late)); a.Errcode != 40029 {
		t.Errorf("a code: %s", a.body)
	}
	if a := g.sns("oauth2/refresh_token", refreshWX(first.Refresh)); a.Errcode != 40030 {
		t.Errorf("a refresh token: %s", a.body)
	}
	g.clients.mu.Lock()
	g.clients.all["wx"].Scopes, g.clients.all["wx"].Since = []string{"other"}, time.Time{}
	g.clients.mu.Unlock()
	if a := g.sns("oauth2/access_token", exchangeWX(late)); a.Errcode != 40029 {
		t.Errorf("without its scopes: %s", a.body)
	}
}

// Both must cost the same: here, that the same is done.
func TestUnknownAppIDIsThrottledLikeAWrongSecret(t *testing.T) { // B05, T21
	g := newTokenRig(t)
	wx(g)
	for appid, want := range map[string]int{"wx": 40125, "web": 40013, "nobody": 40013, url.QueryEscape("a b"): 40013} {
		wrong := exchangeWX("x").with("appid", appid).with("secret", "wrong")
		if appid == "web" {
			wrong = wrong.with("secret", webSecret) // the right one, of another dialect
		}
		for range 10 {
			if a := g.sns("oauth2/access_token", wrong); a.status != 401 || a.Errcode != want {
				t.Fatalf("%s: %d %s", appid, a.status, a.body)
			}
		}
		if a := g.sns("oauth2/access_token", wrong); a.status != 429 || a.Errcode != 45009 || a.header.Get("Retry-After") == "" {
			t.Errorf("%s: %d %s", appid, a.status, a.body)
		}
	}
}

// Comma is the separator here, whatever a code was asked for with, and a client that lost a
// right since is told what is left.
func TestVariantBScopesAreCommaSeparated(t *testing.T) {
	g := newTokenRig(t)
	wx(g)
	g.clients.change("wx", func(c *oauth.Client) { c.Scopes = []string{oauth.SNSLogin, oauth.SNSUserinfo, "read"} })
	a := g.sns("oauth2/access_token", exchangeWX(g.code(func(c *store.Code) {
		c.Dialect, c.Client, c.Scopes = store.DialectVariantB, "wx", []string{oauth.SNSUserinfo, "read"}
	})))
	if !strings.Contains(a.body, `"scope":"snsapi_userinfo,read"`) {
		t.Errorf("%s", a.body)
	}
	g.clients.change("wx", func(c *oauth.Client) { c.Scopes = c.Scopes[:2] })
	if b := g.sns("oauth2/refresh_token", refreshWX(a.Refresh)); !strings.Contains(b.body, `"scope":"snsapi_userinfo"`) {
		t.Errorf("%s", b.body)
	}
}

func TestVariantBRequestFormats(t *testing.T) {
	g := newTokenRig(t)
	wx(g)
	a := g.snsSignIn()
	ask := a.asks().encode()
	for name, c := range map[string]struct {
		query, body string
		header      []string
		want        string // "" for a success
	}{
		"half in each":            {"openid=" + a.OpenID, "access_token=" + a.Access, nil, ""},
		"the same in both":        {ask, ask, nil, ""},
		"a parameter of nobody":   {ask + "&x=1&x=2&lang=zh_CN&lang=en", "", nil, ""},
		"the token in the header": {"openid=" + a.OpenID, "", []string{"Authorization", "Bearer " + a.Access}, ""},
		"a header of others":      {ask, "", []string{"Authorization", "Basic d3g6eA=="}, ""},
		"a charset":               {"", ask, []string{"Content-Type", "application/x-www-form-urlencoded; charset=utf-8"}, ""},
		"twice in the query":      {ask + "&openid=x", "", nil, "400 invalid_parameter openid 40035"},
		"twice in the form":       {"", ask + "&openid=x", nil, "400 invalid_parameter openid 40035"},
		"otherwise in the form":   {ask, "openid=x", nil, "400 invalid_parameter openid 40035"},
		"otherwise in the header": {ask, "", []string{"Authorization", "Bearer x"}, "400 invalid_parameter access_token 40035"},
		"a query without end":     {ask + "&x=" + strings.Repeat("a", 70<<10), "", nil, "414 invalid_parameter - 40035"},
		"a form without end":      {"", ask + "&x=" + strings.Repeat("a", 70<<10), nil, "413 invalid_parameter - 40035"},
		"many parameters":         {ask + strings.Repeat("&x=1", 100), "", nil, "400 invalid_parameter - 40035"},
		"half an escape":          {ask + "&x=%2", "", nil, "400 invalid_parameter - 40035"},
		"a semicolon":             {ask + "&x=1;openid=x", "", nil, "400 invalid_parameter - 40035"},
		"JSON":                    {"", "{}", []string{"Content-Type", "application/json"}, "415 invalid_parameter - 40035"},
	} {
		t.Run(name, func(t *testing.T) {
			g.t = t
			b := g.snsDo(http.MethodPost, "auth?"+c.query, c.body, c.header...)
			if c.want != "" {
				g.wantSNS(b, c.want)
			} else if b.status != http.StatusOK || b.body != `{"errcode":0,"errmsg":"ok"}` {
				t.Errorf("%d %s", b.status, b.body)
			}
		})
	}
}
