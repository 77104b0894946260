package authserver_test

import (
	"cmp"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"

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
	return g.snsBy(http.MethodGet, path, p)
}

// snsBy sends the parameters in the query, or as a form by POST.
func (g *tokenRig) snsBy(method, path string, p params) sns {
	g.t.Helper()
	if method == http.MethodPost {
		return g.snsDo(method, path, p.encode())
	}
	return g.snsDo(method, path+"?"+p.encode(), "")
}

func (g *tokenRig) snsDo(method, target, body string, header ...string) sns {
	g.t.Helper()
	r := httptest.NewRequest(method, tokenIssuer+"/sns/"+target, strings.NewReader(body))
	if body != "" {
		r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	}
	for i := 0; i+1 < len(header); i += 2 {
		r.Header.Set(header[i], header[i+1])
	}
	w := httptest.NewRecorder()
	g.server.ServeHTTP(w, r)
	s := sns{status: w.Code, header: w.Header(), body: w.Body.String()}
	g.must(json.Unmarshal(w.Body.Bytes(), &s))
	return s
}

// wantSNS is a failure: the status, both bodies and no member besides, and the headers.
// want is said as "status error.code field errcode", the field "-" for none.
func (g *tokenRig) wantSNS(a sns, want string) {
	g.t.Helper()
	var body struct {
		Error struct {
			Code    string `json:"code"`
			Message string `json:"message"`
			Field   string `json:"field"`
		} `json:"error"`
		Errcode int    `json:"errcode"`
		Errmsg  string `json:"errmsg"`
	}
	d := json.NewDecoder(strings.NewReader(a.body))
	d.DisallowUnknownFields()
	g.must(d.Decode(&body))
	got := fmt.Sprint(a.status, " ", body.Error.Code, " ", cmp.Or(body.Error.Field, "-"), " ", body.Errcode)
	if got != want || body.Error.Message == "" || body.Errmsg == "" || body.Errmsg == "ok" {
		g.t.Errorf("got %s, want %s: %s", got, want, a.body)
	}
	h := a.header
	if h.Get("Cache-Control") != "no-store" || h.Get("Content-Type") != "application/json" || h.Get("X-Content-Type-Options") != "nosniff" ||
		(h.Get("Retry-After") != "") != (a.status == 429 || a.status == 503) || (h.Get("WWW-Authenticate") != "") != (body.Error.Code == "invalid_token") {
		g.t.Errorf("%s with %v", got, h)
	}
}

// snsSignIn redeems a fresh code.
func (g *tokenRig) snsSignIn() sns {
	g.t.Helper()
	a := g.sns("oauth2/access_token", exchangeWX(g.snsCode()))
	if a.status != http.StatusOK || len(a.OpenID) != 28 || len(a.UnionID) != 28 || a.Refresh == "" {
		g.t.Fatalf("%d %s", a.status, a.body)
	}
	g.alive(a.Access) // what is revoked is known by now
	return a
}

func (a sns) asks() params { return params{"access_token": a.Access, "openid": a.OpenID} }

func exchangeWX(code string) params {
	return params{"appid": "wx", "secret": webSecret, "code": code, "grant_type": "authorization_code"}
}

func refreshWX(token string) params {
	return params{"appid": "wx", "refresh_token": token, "grant_type": "refresh_token"}
}
