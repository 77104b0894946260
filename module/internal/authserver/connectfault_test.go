package authserver_test

import (
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/gatehouse/gatehouse/module/oauth"
)

// Every fault of a request of Variant B is told to the person, and no redirect follows.
func TestVariantBRequestErrorsAreNotRedirected(t *testing.T) {
	g := newQRRig(t)
	b := g.phone() // signed in, so that nothing but the fault stands in the way
	long := strings.Repeat("s", 4097)
	for name, change := range map[string]func(url.Values){
		"appid missing":                      func(v url.Values) { v.Del("appid") },
		"appid unknown":                      func(v url.Values) { v.Set("appid", "nobody") },
		"appid of an OAuth client":           func(v url.Values) { v.Set("appid", "web"); v.Set("redirect_uri", webRedirect) },
		"appid as client_id":                 func(v url.Values) { v.Del("appid"); v.Set("client_id", "wx") },
		"appid undefined":                    func(v url.Values) { v.Set("appid", "undefined") },
		"appid twice":                        func(v url.Values) { v.Add("appid", "wx") },
		"redirect_uri missing":               func(v url.Values) { v.Del("redirect_uri") },
		"redirect_uri undefined":             func(v url.Values) { v.Set("redirect_uri", "undefined") },
		"B15 another path of its host":       func(v url.Values) { v.Set("redirect_uri", wxRedirect+"/more") },
		"B15 another query":                  func(v url.Values) { v.Set("redirect_uri", wxRedirect+"?a=1") },
		"B15 another scheme":                 func(v url.Values) { v.Set("redirect_uri", "http://wx.example/cb") },
		"B15 another port":                   func(v url.Values) { v.Set("redirect_uri", "https://wx.example:8443/cb") },
		"B15 another case":                   func(v url.Values) { v.Set("redirect_uri", "https://WX.example/cb") },
		"B15 encoded twice":                  func(v url.Values) { v.Set("redirect_uri", url.QueryEscape(wxRedirect)) },
		"B15 another host":                   func(v url.Values) { v.Set("redirect_uri", "https://evil.example/cb") },
		"B15 with a fragment":                func(v url.Values) { v.Set("redirect_uri", wxRedirect+"#x") },
		"response_type missing":              func(v url.Values) { v.Del("response_type") },
		"response_type token":                func(v url.Values) { v.Set("response_type", "token") },
		"response_type CODE":                 func(v url.Values) { v.Set("response_type", "CODE") },
		"response_type token in a frame":     func(v url.Values) { v.Set("response_type", "token"); v.Set("login_type", "jssdk") },
		"response_type undefined in a frame": func(v url.Values) { v.Set("response_type", "undefined"); v.Set("login_type", "jssdk") },
		"another login_type":                 func(v url.Values) { v.Del("response_type"); v.Set("login_type", "JSSDK") },
		"scope missing":                      func(v url.Values) { v.Del("scope") },
		"scope empty":                        func(v url.Values) { v.Set("scope", ",") },
		"scope undefined":                    func(v url.Values) { v.Set("scope", "undefined") },
		"scope of nobody":                    func(v url.Values) { v.Set("scope", "snsapi_login,nonsense") },
		"scope of Variant B not given":       func(v url.Values) { v.Set("scope", "snsapi_base") },
		"scope of none of Variant B":         func(v url.Values) { v.Set("scope", "read") },
		"scope of OAuth":                     func(v url.Values) { v.Set("scope", "openid") },
		"scope malformed":                    func(v url.Values) { v.Set("scope", `snsapi_login,"`) },
		"scopes without end":                 func(v url.Values) { v.Set("scope", strings.Repeat("snsapi_login,", 400)) },
		"state missing":                      func(v url.Values) { v.Del("state") },
		"state empty":                        func(v url.Values) { v.Set("state", "") },
		"state undefined":                    func(v url.Values) { v.Set("state", "undefined") },
		"state too long":                     func(v url.Values) { v.Set("state", long) },
		"state twice":                        func(v url.Values) { v.Add("state", "T") },
		"state with NUL":                     func(v url.Values) { v.Set("state", "a\x00") },
		"state that is no UTF-8":             func(v url.Values) { v.Set("state", "\xff") },
		"challenge without method":           func(v url.Values) { v.Set("code_challenge", strings.Repeat("a", 43)) },
		"challenge plain": func(v url.Values) {
			v.Set("code_challenge", strings.Repeat("a", 43))
			v.Set("code_challenge_method", "plain")
		},
		"challenge malformed":      func(v url.Values) { v.Set("code_challenge", "a"); v.Set("code_challenge_method", "S256") },
		"method without challenge": func(v url.Values) { v.Set("code_challenge_method", "S256") },
	} {
		for _, path := range []string{"/connect/qrconnect", "/connect/oauth2/authorize"} {
			t.Run(name+" at "+path, func(t *testing.T) {
				g.t = t
				v := url.Values{"appid": {"wx"}, "redirect_uri": {wxRedirect}, "response_type": {"code"}, "scope": {"snsapi_login,snsapi_userinfo"}, "state": {"S"}}
				change(v)
				for _, method := range []string{http.MethodGet, http.MethodHead} {
					p := b.do(method, tokenIssuer+path+"?"+v.Encode(), "")
					g.isError(p, http.StatusBadRequest)
				}
			})
		}
	}
	t.Run("more than a query may have", func(t *testing.T) {
		g.t = t
		g.isError(b.get(qrURL(wxRequest().with("x", strings.Repeat("x", 17<<10)))), http.StatusRequestURITooLong)
		g.isError(b.get(qrURL(wxRequest())+strings.Repeat("&x", 100)), http.StatusBadRequest)
		g.isError(b.get(qrURL(wxRequest())+"&x=%"), http.StatusBadRequest)
	})
	t.Run("a scope of scanning is none of the one browser", func(t *testing.T) {
		g.t = t
		g.isError(b.get(sameBrowserURL(wxRequest())), http.StatusBadRequest)
	})
}

func TestVariantBRequestOptions(t *testing.T) {
	g := newQRRig(t)
	for name, p := range map[string]params{
		"all of it":                   wxRequest().with("lang", "cn").with("style", "black").with("connect_redirect", "1").with("client_id", "other"),
		"the embedded form":           wxRequest().with("response_type", "").with("login_type", "jssdk").with("self_redirect", "default").with("href", "undefined"),
		"scopes at commas":            wxRequest().with("scope", "snsapi_login,snsapi_userinfo,read,"),
		"scopes at spaces":            wxRequest().with("scope", "snsapi_userinfo read"),
		"a state of four kilobytes":   wxRequest().with("state", strings.Repeat("é", 2048)),
		"PKCE":                        wxRequest().with("code_challenge", oauth.Challenge(verifier)).with("code_challenge_method", "S256"),
		"a registered query":          wxRequest().with("redirect_uri", "https://wx.example/q?a=1"),
		"a language nobody here uses": wxRequest().with("lang", "fr"),
	} {
		t.Run(name, func(t *testing.T) {
			g.t = t
			s := g.scanPage(p)
			s.wantState(408)
			again := regexpAgain.FindStringSubmatch(s.body)
			if again == nil {
				t.Fatal("no way to a new code")
			}
			second := s.show(s.get("https://id.example" + strings.ReplaceAll(again[1], "&amp;", "&")))
			if second.id == s.id {
				t.Error("the same code again")
			}
			s.wantState(408)
		})
		g.pass(61e9) // tickets of one address are counted
	}
	t.Run("in the language it asks for", func(t *testing.T) {
		g.t = t
		for lang, want := range map[string]string{"cn": "zh", "en": "en", "": "en"} {
			if p := g.scanPage(wxRequest().with("lang", lang)); !strings.HasPrefix(p.header.Get("Content-Language"), want) {
				t.Errorf("%q gives %q", lang, p.header.Get("Content-Language"))
			}
		}
		p := g.browser().get(qrURL(wxRequest().with("lang", "cn").with("state", "")))
		if g.isError(p, http.StatusBadRequest); !strings.HasPrefix(p.header.Get("Content-Language"), "zh") {
			t.Errorf("a fault: %v", p.header)
		}
	})
	t.Run("HEAD makes nothing", func(t *testing.T) {
		g.t = t
		if p := g.browser().do(http.MethodHead, qrURL(wxRequest()), ""); p.status != http.StatusOK || p.body != "" || len(p.set) != 0 {
			t.Errorf("%d %v %q", p.status, p.header, p.body)
		}
	})
	t.Run("by GET only", func(t *testing.T) {
		g.t = t
		for _, path := range []string{"/connect/qrconnect", "/connect/oauth2/authorize", "/connect/l/qrconnect", "/connect/qrcode/" + strings.Repeat("A", 22), "/connect/login.js", "/connect/wait.js"} {
			for _, method := range []string{"POST", "PUT", "DELETE", "OPTIONS"} {
				p := g.browser().do(method, tokenIssuer+path+"?"+wxRequest().encode(), "")
				if p.status != http.StatusMethodNotAllowed || !strings.HasPrefix(p.header.Get("Allow"), "GET") {
					t.Errorf("%s %s: %d", method, path, p.status)
				}
			}
		}
		if p := g.browser().do(http.MethodHead, tokenIssuer+"/connect/l/qrconnect", ""); p.status != http.StatusMethodNotAllowed {
			t.Errorf("HEAD of a poll: %d", p.status)
		}
	})
}

func TestVariantBClientsCannotUseAuthorize(t *testing.T) { // B11
	g := newQRRig(t)
	b := g.phone()
	g.isError(b.get(authorizeURL(webRequest().with("client_id", "wx").with("redirect_uri", wxRedirect))), http.StatusBadRequest)
}
