package authserver_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/gatehouse/gatehouse/module/authserver"
	"github.com/gatehouse/gatehouse/module/internal/secret"
	"github.com/gatehouse/gatehouse/module/oauth"
	"github.com/gatehouse/gatehouse/module/store"
)

// wx is a site of Variant B.
func wx(g *tokenRig) {
	g.clients.mu.Lock()
	defer g.clients.mu.Unlock()
	g.clients.all["wx"] = &oauth.Client{
		ID: "wx", VariantB: true, Owner: "acme", SecretHashes: []string{secret.Digest(webSecret)}, RedirectURIs: []string{webRedirect},
		Grants: []oauth.GrantType{oauth.AuthorizationCode, oauth.RefreshToken}, Scopes: oauth.VariantBScopes,
	}
}

func (g *tokenRig) snsCode() string {
	return g.code(func(c *store.Code) {
		c.Dialect, c.Client, c.Scopes = store.DialectVariantB, "wx", []string{oauth.SNSUserinfo}
	})
}

// sns is what came back from one of its endpoints.
type sns struct {
	status  int
	header  http.Header
	body    string
	Access  string `json:"access_token"`
	Refresh string `json:"refresh_token"`
	OpenID  string
	UnionID string
	Expires int64 `json:"expires_in"`
	Errcode int
}

func (g *tokenRig) sns(path string, p params) sns {
	g.t.Helper()
	w := httptest.NewRecorder()
	g.server.ServeHTTP(w, httptest.NewRequest(http.MethodGet, tokenIssuer+"/sns/"+path+"?"+p.encode(), nil))
	s := sns{status: w.Code, header: w.Header(), body: w.Body.String()}
	g.must(json.Unmarshal(w.Body.Bytes(), &s))
	return s
}

func exchangeWX(code string) params {
	return params{"appid": "wx", "secret": webSecret, "code": code, "grant_type": "authorization_code"}
}

func refreshWX(token string) params {
	return params{"appid": "wx", "refresh_token": token, "grant_type": "refresh_token"}
}

// Whatever operation of the store fails, before it took effect or after, and however long:
// the code is neither lost nor taken twice, and the user has one name.
func TestAFaultOfTheStoreLosesNothingOfVariantB(t *testing.T) {
	for name, prepare := range map[string]func(*tokenRig) (string, params){
		"a code": func(g *tokenRig) (string, params) { return "oauth2/access_token", exchangeWX(g.snsCode()) },
		"a refresh token": func(g *tokenRig) (string, params) {
			first := g.sns("oauth2/access_token", exchangeWX(g.snsCode()))
			g.pass(time.Hour)
			return "oauth2/refresh_token", refreshWX(first.Refresh)
		},
		"a profile": func(g *tokenRig) (string, params) {
			first := g.sns("oauth2/access_token", exchangeWX(g.snsCode()))
			g.alive(first.Access)
			return "userinfo", params{"access_token": first.Access, "openid": first.OpenID}
		},
	} {
		for _, lost := range []bool{false, true} {
			for _, all := range []bool{false, true} {
				for n, more := 1, true; more && !t.Failed(); n++ {
					t.Run(fmt.Sprintf("%s, operation %d, lost reply %v, all that follow %v", name, n, lost, all), func(t *testing.T) {
						g := newTokenRig(t)
						wx(g)
						path, p := prepare(g)
						last := n
						if all {
							last = forever
						}
						g.store.plan(n, last, lost, errLost)
						a := g.sns(path, p)
						more = n <= len(g.store.done())
						g.store.plan(0, 0, false, nil)
						if a.status != 200 {
							if a.status != 503 || a.Errcode != -1 || a.header.Get("Retry-After") == "" || strings.Contains(a.body, "connection") {
								t.Fatalf("%d %s", a.status, a.body)
							}
							a = g.sns(path, p)
						}
						if a.status != 200 || a.Errcode != 0 || len(a.OpenID) != 28 || len(a.UnionID) != 28 {
							t.Fatalf("%d %s", a.status, a.body)
						}
						if a.Access != "" && !g.alive(a.Access) {
							t.Error("the access token is dead")
						}
						if p["code"] == "" {
							return
						}
						if again := g.sns(path, p); again.Errcode != 40163 || g.alive(a.Access) {
							t.Errorf("a replay: %d %s", again.status, again.body)
						}
					})
				}
			}
		}
	}
}

func TestAFamilyOfVariantBIsOnTheAccountPageForAsLongAsItLives(t *testing.T) {
	g := newEndRig(t, func(c *authserver.Config) {
		c.Lifetimes.Session, c.Lifetimes.SessionIdle = 90*24*time.Hour, 90*24*time.Hour
	})
	wx(g.tokenRig)
	a := g.sns("oauth2/access_token", exchangeWX(g.snsCode()))
	b := g.browser()
	b.signIn(b.get(accountURL), "ann", annsPassword)
	for _, c := range []struct {
		days int
		want int
	}{{0, 1}, {20, 1}, {11, 0}} { // OAuth's families end when they are idle for two weeks
		g.pass(time.Duration(c.days) * 24 * time.Hour)
		if n := len(g.account(b).buttons("withdraw")); n != c.want {
			t.Errorf("after %d days more: %d applications, %d %s", c.days, n, a.status, a.body)
		}
	}
}

// The notice that ends a family is kept only while a token of it can be alive, and one of
// a refresh just now is, however long ago the user signed in.
func TestATokenOfARefreshOfVariantBDiesWithItsFamily(t *testing.T) {
	g := newEndRig(t)
	wx(g.tokenRig)
	first := g.sns("oauth2/access_token", exchangeWX(g.snsCode()))
	if first.Expires != 7200 {
		t.Errorf("%s", first.body)
	}
	g.pass(9 * 24 * time.Hour)
	next := g.sns("oauth2/refresh_token", refreshWX(first.Refresh))
	if next.status != 200 || next.Refresh != first.Refresh || !g.alive(next.Access) {
		t.Fatalf("%d %s", next.status, next.body)
	}
	g.must(g.server.EndClient(t.Context(), "u1", "wx"))
	if g.alive(next.Access) {
		t.Error("the access token lives")
	}
	if again := g.sns("oauth2/refresh_token", refreshWX(first.Refresh)); again.Errcode != 40030 {
		t.Errorf("%d %s", again.status, again.body)
	}
}

func TestAForgottenUserIsForgottenAtTheSitesToo(t *testing.T) {
	g := newEndRig(t)
	wx(g.tokenRig)
	a := g.sns("oauth2/access_token", exchangeWX(g.snsCode()))
	if n := g.count(store.KindPairwise, "u1"); n != 2 {
		t.Fatalf("%d names: %s", n, a.body)
	}
	g.must(g.server.ForgetSubject(t.Context(), "u1"))
	if n := g.count(store.KindPairwise, "u1"); n != 0 {
		t.Errorf("%d names are left", n)
	}
}

func TestACodeOfAnEarlierClientOfTheSameAppIDIsNone(t *testing.T) {
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
func TestAnUnknownAppIDIsCountedAndCheckedLikeAWrongSecret(t *testing.T) { // B05, T21
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
