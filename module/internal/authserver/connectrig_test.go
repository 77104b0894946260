package authserver_test

import (
	"net/http"
	"net/url"
	"testing"

	"github.com/gatehouse/gatehouse/module/internal/authserver"
	"github.com/gatehouse/gatehouse/module/oauth"
)

const (
	wxSecret   = "wx-secret-0123456789-0123456789-01234"
	wxRedirect = "https://wx.example/cb"
)

// newConnectRig is a browser rig with clients of Variant B.
func newConnectRig(t *testing.T, change ...func(*authserver.Config)) *tokenRig {
	t.Helper()
	g := newBrowserRig(t, change...)
	g.addSites()
	return g
}

func (g *tokenRig) addSites() {
	g.clients.mu.Lock()
	defer g.clients.mu.Unlock()
	for id, frames := range map[string][]string{"wx": nil, "framed": {"https://wx.example", "https://shop.example"}} {
		g.clients.all[id] = &oauth.Client{
			ID: id, Name: "Shop <wx>", VariantB: true, SecretHashes: []string{"0"}, RedirectURIs: []string{wxRedirect, "https://wx.example/q?a=1"},
			Scopes: []string{"snsapi_login", "snsapi_userinfo", "read"}, FrameOrigins: frames,
		}
	}
}

func wxRequest() params {
	return params{"appid": "wx", "redirect_uri": wxRedirect, "response_type": "code", "scope": "snsapi_login", "state": "S"}
}

func sameBrowserURL(p params) string { return tokenIssuer + "/connect/oauth2/authorize?" + p.encode() }

// backPlain checks a redirect of Variant B, which carries nothing besides, and returns
// its parameters.
func (g *tokenRig) backPlain(p page, status int, to string, names ...string) url.Values {
	g.t.Helper()
	u, err := url.Parse(p.header.Get("Location"))
	if err != nil || p.status != status || u.Scheme+"://"+u.Host+u.Path != to || p.body != "" || p.header.Get("Referrer-Policy") != "no-referrer" {
		g.t.Fatalf("no redirect %d to %s: %d %v %s", status, to, p.status, p.header, p.body)
	}
	q := u.Query()
	for _, name := range names {
		if len(q[name]) != 1 {
			g.t.Fatalf("%s in %v", name, q)
		}
	}
	if len(q) != len(names) {
		g.t.Fatalf("%v, want %v only", q, names)
	}
	return q
}

func TestVariantBSameBrowserFlowIssuesACode(t *testing.T) {
	g := newConnectRig(t)
	b := g.browser()
	login := b.get(sameBrowserURL(wxRequest().with("scope", "snsapi_userinfo").with("state", "a b&c")))
	g.isLogin(login)
	consent := b.signIn(login, "ann", annsPassword)
	g.isConsent(consent)
	q := g.backPlain(b.submit(consent, "decision", "allow"), http.StatusSeeOther, wxRedirect, "code", "state")
	if len(q.Get("code")) != 43 || q.Get("state") != "a b&c" {
		t.Fatalf("%v", q)
	}
	again := b.get(sameBrowserURL(wxRequest().with("scope", "snsapi_userinfo")))
	g.backPlain(again, http.StatusFound, wxRedirect, "code", "state")
	t.Run("a no comes back as the one error there is", func(t *testing.T) {
		g.t = t
		b := g.browser()
		consent := b.signIn(b.get(sameBrowserURL(wxRequest().with("scope", "snsapi_login,snsapi_userinfo"))), "ann", annsPassword)
		q := g.backPlain(b.submit(consent, "decision", "deny"), http.StatusSeeOther, wxRedirect, "error", "state")
		if q.Get("error") != "access_denied" {
			t.Fatalf("%v", q)
		}
	})
	t.Run("a code of it is none of OAuth", func(t *testing.T) { // B11
		g.t = t
		g.want(g.token(params{"grant_type": "authorization_code", "client_id": "web", "client_secret": webSecret, "code": q.Get("code")}), 400, "invalid_grant")
	})
}
