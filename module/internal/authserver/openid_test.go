package authserver_test

import (
	"crypto/sha256"
	"encoding/base64"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/gatehouse/gatehouse/module/internal/authserver"
	"github.com/gatehouse/gatehouse/module/oauth"
	"github.com/gatehouse/gatehouse/module/store"
)

func TestIDTokenStatesUserTimeAndClient(t *testing.T) {
	g := newOpenIDRig(t)
	b := g.signedInAs("ann", "x")
	signedIn := g.now()
	g.pass(5 * time.Minute)
	a := g.tokensOf(b, rpRequest().with("scope", "openid profile email").with("nonce", "n-1"))
	claims := claimsOf(t, a.id)
	sum := sha256.Sum256([]byte(a.tokens.Access))
	now := float64(g.now().Unix())
	want := map[string]any{
		"iss": tokenIssuer, "sub": "u1", "aud": "rp", "azp": "rp", "nonce": "n-1", "iat": now, "exp": now + 3600,
		"auth_time": float64(signedIn.Unix()), "at_hash": base64.RawURLEncoding.EncodeToString(sum[:16]),
	}
	for name, value := range want {
		if claims[name] != value {
			t.Errorf("%s: %v, want %v", name, claims[name], value)
		}
	}
	for name := range claims {
		if _, ok := want[name]; !ok && name != "sid" {
			t.Errorf("the id_token says %s: that is for /userinfo", name)
		}
	}
	if h := headerOf(t, a.id); h["typ"] != "JWT" || h["alg"] != "ES256" || h["kid"] == "" {
		t.Errorf("header %v", h)
	}
	if _, err := g.tokens.ReadHint(t.Context(), a.id); err != nil {
		t.Errorf("the signature: %v", err)
	}
}

func TestNonceMatchesItsRequest(t *testing.T) {
	g := newOpenIDRig(t)
	b := g.signedInAs("ann", "x")
	for _, nonce := range []string{"a", `"b<&>é` + "\n", strings.Repeat("n", 1000)} {
		if got := claimsOf(t, g.tokensOf(b, rpRequest().with("nonce", nonce)).id)["nonce"]; got != nonce {
			t.Errorf("nonce %q, want %q", got, nonce)
		}
	}
	if claims := claimsOf(t, g.tokensOf(b, rpRequest().with("nonce", "")).id); claims["nonce"] != nil {
		t.Errorf("a nonce from nowhere: %v", claims["nonce"])
	}
}

func TestRefreshKeepsTheIDTokensSignInClaims(t *testing.T) { // Core 12.2
	g := newOpenIDRig(t)
	b := g.signedInAs("ann", "x")
	first := g.tokensOf(b, rpRequest())
	was := claimsOf(t, first.id)
	refresh := first.tokens.Refresh
	for range 2 {
		g.pass(time.Hour)
		a := g.idToken(g.want(g.token(params{"grant_type": "refresh_token", "refresh_token": refresh, "client_id": "rp", "client_secret": webSecret}), 200, ""))
		is := claimsOf(t, a.id)
		for _, name := range []string{"iss", "sub", "aud", "azp", "auth_time", "sid"} {
			if is[name] == nil || is[name] != was[name] {
				t.Errorf("%s: %v, was %v", name, is[name], was[name])
			}
		}
		if is["iat"] != float64(g.now().Unix()) || is["nonce"] != nil || is["at_hash"] == was["at_hash"] {
			t.Errorf("after a refresh: %v", is)
		}
		refresh = a.tokens.Refresh
	}
	b = g.signedInAs("ann", "x") // the session is over
	narrow := g.idToken(g.want(g.token(params{
		"grant_type": "refresh_token", "refresh_token": g.tokensOf(b, rpRequest().with("scope", "openid read")).tokens.Refresh,
		"scope": "read", "client_id": "rp", "client_secret": webSecret,
	}), 200, ""))
	if narrow.id != "" {
		t.Error("an id_token without the scope openid")
	}
}

func TestNoIDTokenWithoutTheOpenIDScope(t *testing.T) {
	g := newOpenIDRig(t)
	if a := g.tokensOf(g.signedInAs("ann", "x"), rpRequest().with("scope", "read profile")); a.id != "" || strings.Contains(a.body, "id_token") {
		t.Errorf("%s", a.body)
	}
	g.clients.change("job", func(c *oauth.Client) { c.Scopes = append(slices.Clone(c.Scopes), "openid") })
	a := g.want(g.token(params{"grant_type": "client_credentials", "scope": "openid", "client_id": "job", "client_secret": webSecret}), 200, "")
	if strings.Contains(a.body, "id_token") {
		t.Errorf("an id_token about a program: %s", a.body)
	}
}

func TestSIDIsSharedByClientsAndHidesTheSessionID(t *testing.T) {
	g := newOpenIDRig(t)
	b := g.signedInAs("ann", "x")
	first := claimsOf(t, g.tokensOf(b, rpRequest()).id)["sid"]
	second := claimsOf(t, g.tokensOf(b, rpRequest().with("client_id", "rq")).id)["sid"]
	other := claimsOf(t, g.tokensOf(g.signedInAs("ann", "x"), rpRequest()).id)["sid"]
	if first == nil || first != second || first == other {
		t.Errorf("sid %v %v %v", first, second, other)
	}
	sid, ok := first.(string)
	if !ok || strings.Contains(g.log.String(), sid) || len(sid) != 32 {
		t.Errorf("sid %v", first)
	}
	for _, rec := range must(g.store.List(t.Context(), store.KindSession, "u1", "", 10)) {
		if strings.Contains(rec.ID, sid) {
			t.Errorf("sid %s is the session's own name", sid)
		}
	}
}

func TestUnsignableIDTokenDoesNotUseUpTheCode(t *testing.T) {
	g := newOpenIDRig(t)
	b := g.signedInAs("ann", "x")
	code := g.issued(b.get(authorizeURL(rpRequest())), http.StatusFound)
	g.clients.change("rp", func(c *oauth.Client) { c.IDTokenAlg = "HS256" })
	p := params{"grant_type": "authorization_code", "code": code, "redirect_uri": rpRedirect, "client_id": "rp", "client_secret": webSecret}
	g.want(g.token(p), 503, "temporarily_unavailable")
	g.clients.change("rp", func(c *oauth.Client) { c.IDTokenAlg = "ES256" })
	g.want(g.token(p), 200, "")
}

func TestIDTokenIsNotAnAccessToken(t *testing.T) {
	g := newOpenIDRig(t)
	a := g.tokensOf(g.signedInAs("ann", "x"), rpRequest())
	if !g.alive(a.tokens.Access) {
		t.Fatal("the access token is dead")
	}
	if g.alive(a.id) {
		t.Error("a guard takes an id_token")
	}
	g.challenged(g.userinfo(a.id), http.StatusUnauthorized, "invalid_token")
}

func TestDiscoveryOfAnIssuerWithoutPath(t *testing.T) { // M01
	g := newTokenRig(t, func(c *authserver.Config) { c.Issuer = must(c.Issuer.Parse("http://localhost:8080")) })
	oauthDocument := g.do("GET", "http://localhost:8080/.well-known/oauth-authorization-server", "")
	discovery := g.do("GET", "http://localhost:8080/.well-known/openid-configuration", "")
	if discovery.status != 200 || discovery.body != oauthDocument.body || !strings.Contains(discovery.body, `"userinfo_endpoint":"http://localhost:8080/userinfo"`) {
		t.Errorf("%d %s", discovery.status, discovery.body)
	}
}

func TestAuthTimeIsThatOfTheLastSignIn(t *testing.T) { // A31
	g := newOpenIDRig(t)
	b := g.signedInAs("ann", "x")
	first := float64(g.now().Unix())
	authTime := func(p page) any {
		t.Helper()
		return claimsOf(t, g.redeem("rp", g.issued(p, p.status)).id)["auth_time"]
	}
	g.pass(2 * time.Second)
	if got := authTime(b.get(authorizeURL(rpRequest().with("max_age", "10000")))); got != first {
		t.Errorf("auth_time %v, want %v", got, first)
	}
	for _, change := range [][2]string{{"max_age", "1"}, {"prompt", "login"}, {"max_age", "0"}, {"prompt", "select_account"}} {
		login := b.get(authorizeURL(rpRequest().with(change[0], change[1])))
		g.isLogin(login)
		g.pass(3 * time.Second)
		if got := authTime(b.signIn(login, "ann", "x")); got != float64(g.now().Unix()) {
			t.Errorf("%v: auth_time %v, want %d", change, got, g.now().Unix())
		}
		g.pass(3 * time.Second)
	}
}

func TestClaimsParameterIsIgnored(t *testing.T) {
	g := newOpenIDRig(t)
	a := g.tokensOf(g.signedInAs("ann", "x"), rpRequest().with("claims", `{"userinfo":{"email":{"essential":true}},"id_token":{"email":null,"acr":{"values":["x"]}}}`).
		with("acr_values", "x").with("display", "popup").with("claims_locales", "de"))
	if claims := claimsOf(t, a.id); claims["email"] != nil || claims["acr"] != nil {
		t.Errorf("%v", claims)
	}
	if a := g.userinfo(a.tokens.Access); a.body != `{"sub":"u1"}` {
		t.Errorf("%s", a.body)
	}
}
