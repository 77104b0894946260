package authserver_test

import (
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/gatehouse/gatehouse/module/internal/authserver"
	"github.com/gatehouse/gatehouse/module/internal/secret"
)

const (
	openerKept = "unsafe-none"
	openerCut  = "same-origin"
)

func (g *tokenRig) wantOpener(what string, p page, want string) {
	g.t.Helper()
	if got := p.header.Values("Cross-Origin-Opener-Policy"); len(got) != 1 || got[0] != want {
		g.t.Errorf("%s: %d with opener policy %q, want %s", what, p.status, got, want)
	}
}

// A site that opens an address of ours in a window sees whether we cut the connection to it. That must not tell who is
// signed in.
func TestOpenerPolicyTellsNobodyWhoIsSignedIn(t *testing.T) {
	g := newQRRig(t)
	g.addDevices()
	in, out := g.signedIn(), g.browser()
	for path, want := range map[string]string{
		"":                          openerCut,
		"/":                         openerCut,
		"/account":                  openerCut,
		"/login":                    openerCut,
		"/login?request=x":          openerCut,
		"/device":                   openerCut,
		"/device?user_code=BCDF":    openerCut,
		"/device?%":                 openerCut,
		"/connect/confirm":          openerCut,
		"/connect/confirm?uuid=x":   openerCut,
		"/connect/language":         openerCut, // 405
		"/nothing":                  openerCut,
		"/logout":                   openerKept,
		"/logout?client_id=nobody":  openerKept,
		"/consent":                  openerKept,
		"/authorize":                openerKept,
		"/connect/qrconnect":        openerKept,
		"/connect/oauth2/authorize": openerKept,
		"/connect/confirm?uuid=" + g.scanPage(wxRequest()).id:    openerCut,
		"/connect/confirm?uuid=" + secret.ID():                   openerCut,
		"/connect/qrconnect?" + wxRequest().encode():             openerKept,
		"/connect/oauth2/authorize?" + wxRequest().encode():      openerKept,
		"/authorize?" + webRequest().encode():                    openerKept,
		"/authorize?" + webRequest().with("scope", "x").encode(): openerKept,
	} {
		g.wantOpener("signed in at "+path, in.get(tokenIssuer+path), want)
		g.wantOpener("signed out at "+path, out.get(tokenIssuer+path), want)
	}
	for path, want := range map[string]string{"/account": openerCut, "/device": openerCut, "/connect/confirm": openerCut, "/login": openerKept, "/connect/language": openerKept} {
		for name, b := range map[string]*tab{"in": in, "out": out} {
			p := b.do(http.MethodPost, tokenIssuer+path, "", "Origin", "https://evil.example", "Sec-Fetch-Site", "cross-site")
			g.isError(p, http.StatusForbidden)
			g.wantOpener("signed "+name+", a form of another site to "+path, p, want)
		}
	}
}

func TestLanguageKeepsTheOpenerOnPagesForClients(t *testing.T) {
	g := newQRRig(t)
	b := g.browser()
	for path, want := range map[string]string{
		"/connect/qrconnect?" + wxRequest().encode(): openerKept, "/logout": openerKept, "/authorize?client_id=nobody": openerKept,
		"/account": openerCut, "/device": openerCut, "/": openerCut, "/nothing": openerCut,
	} {
		chosen := b.do(http.MethodPost, tokenIssuer+"/connect/language", url.Values{"lang": {"en"}}.Encode(), "Referer", tokenIssuer+path)
		if chosen.status != http.StatusSeeOther {
			t.Fatal(path, chosen.status)
		}
		g.wantOpener("another language at "+path, chosen, want)
	}
}

func TestSignInKeepsTheOpenerForClientsOnly(t *testing.T) {
	g := newQRRig(t, func(c *authserver.Config) { c.Protect.PerAddress = 2 })
	for address, want := range map[string]string{
		accountURL: openerCut, tokenIssuer + "/login": openerCut, deviceAddress: openerCut, deviceAddress + "?user_code=BCDF": openerCut,
		confirmURL(secret.ID()): openerCut, authorizeURL(webRequest()): openerKept,
		sameBrowserURL(wxRequest().with("scope", "snsapi_userinfo")): openerKept,
	} {
		t.Run(strings.TrimPrefix(address, tokenIssuer), func(t *testing.T) {
			g.t = t
			g.from("192.0.2.1")
			b := g.browser()
			login := b.get(address)
			g.wantOpener("the sign-in page", login, want)
			g.wantOpener("a form without a token", b.submit(login, "username", "ann", "password", annsPassword, "token", ""), want)
			language := b.do(http.MethodPost, tokenIssuer+"/connect/language", url.Values{"lang": {"en"}, "request": {login.form().Get("request")}}.Encode(), "Referer", address)
			g.wantOpener("another language", language, want)
			for range 2 {
				wrong := b.signIn(login, "nobody", "wrong")
				if wrong.status != http.StatusUnauthorized {
					t.Fatal(wrong.status)
				}
				g.wantOpener("a wrong password", wrong, want)
			}
			limited := b.signIn(login, "nobody", "wrong")
			if limited.status != http.StatusTooManyRequests {
				t.Fatal(limited.status)
			}
			g.wantOpener("too many attempts", limited, want)
			g.pass(time.Minute)
			g.wantOpener("the right password", b.signIn(login, "ann", annsPassword), want)
			g.wantOpener("the form again", b.signIn(login, "ann", annsPassword), want)
		})
	}
}

func TestRefusalsBeforeTheHandlerKeepTheOpenerForClientsOnly(t *testing.T) {
	g := newQRRig(t)
	for path, want := range map[string]string{
		"/account": openerCut, "/login": openerCut, "/device": openerCut, "/connect/confirm": openerCut, "/nothing": openerCut,
		"/authorize": openerKept, "/consent": openerKept, "/logout": openerKept, "/connect/qrconnect": openerKept, "/connect/oauth2/authorize": openerKept,
	} {
		r := httptest.NewRequest(http.MethodGet, tokenIssuer+path, nil)
		w := httptest.NewRecorder()
		g.server.Overloaded(w, r, 1)
		g.wantOpener("overloaded at "+path, page{status: w.Code, header: w.Header()}, want)
		w = httptest.NewRecorder()
		g.server.RefusePlaintext(w, r)
		g.wantOpener("in plaintext at "+path, page{status: w.Code, header: w.Header()}, want)
	}
}
