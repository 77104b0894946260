package gateway

import (
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/gatehouse/gatehouse/internal/testkit/harness"
)

// inChinese reports the language of a page.
func inChinese(p harness.Page) bool { return strings.Contains(p.Body, `<html lang="zh-Hans">`) }

// choose presses the switch at the foot of a page, as a browser does: with the address of the
// page, which may not be that of its form.
func choose(t *testing.T, b *harness.Browser, g *harness.Gateway, p harness.Page, lang string) harness.Page {
	t.Helper()
	var action, request string
	for _, form := range having(parse(t, p), "form", "action", "/connect/language") {
		action = "/connect/language"
		for _, in := range having(form, "input", "name", "request") {
			for _, a := range in.Attr {
				if a.Key == "value" {
					request = a.Val
				}
			}
		}
	}
	if action == "" || !strings.Contains(p.Body, `name="lang" value="`+lang+`"`) {
		t.Fatalf("no switch to %s: %s", lang, p.Body)
	}
	v := url.Values{"lang": {lang}}
	if request != "" {
		v.Set("request", request)
	}
	return switched(t, b, g, v, p.URL.String())
}

// switched posts the switch of a page at this address.
func switched(t *testing.T, b *harness.Browser, g *harness.Gateway, v url.Values, referer string) harness.Page {
	t.Helper()
	return send(t, b, http.MethodPost, g.ID+"/connect/language", v.Encode(), "Origin", g.ID, "Sec-Fetch-Site", "same-origin", "Referer", referer)
}

func TestLanguageSwitchesWithoutScript(t *testing.T) { // S13
	g, _ := start(t)
	t.Run("S13 a sign-in in progress goes on in the other language, and stays there", func(t *testing.T) {
		b := harness.NewBrowser(t, g.ID)
		login := b.Get(authorizeURL(g, "web", "ui_locales", "en"))
		failed := b.Submit(login, url.Values{"username": {username}, "password": {"x"}})
		p := choose(t, b, g, failed, "zh")
		if !isLogin(p) || !inChinese(p) {
			t.Fatalf("%d %s", p.Status, p.Body)
		}
		consent := b.Submit(p, url.Values{"username": {username}, "password": {password}})
		if wantPage(t, consent, http.StatusOK); !inChinese(consent) {
			t.Fatal("the consent page is in English again")
		}
		back := choose(t, b, g, consent, "en")
		if wantPage(t, back, http.StatusOK); inChinese(back) || !strings.Contains(back.Body, `value="allow"`) {
			t.Fatalf("%s", back.Body)
		}
		wantCode(t, g, b.Submit(back, url.Values{"decision": {"allow"}}), callback)
	})
	t.Run("S13 every other page is opened again", func(t *testing.T) {
		b := harness.NewBrowser(t, g.ID)
		for _, path := range []string{"/login", "/account", "/device?user_code=BCDF-GHJK"} {
			p := choose(t, b, g, b.Get(g.ID+path), "zh")
			if p.Status != http.StatusSeeOther || p.Header.Get("Location") != path {
				t.Errorf("%s: %d to %q", path, p.Status, p.Header.Get("Location"))
			}
			if q := b.Get(g.ID + path); !inChinese(q) {
				t.Errorf("%s stays English", path)
			}
			switched(t, b, g, url.Values{"lang": {"en"}}, g.ID+path)
		}
	})
	t.Run("S13 it leads nowhere else", func(t *testing.T) { // U10
		b := signedIn(t, g)
		for _, to := range elsewhere {
			for _, referer := range []string{to, g.ID + to, g.ID + "/" + to, g.ID + "/account/" + to} {
				if strings.ContainsFunc(referer, func(r rune) bool { return r < ' ' && r != '\t' }) {
					continue // no such header
				}
				p := switched(t, b, g, url.Values{"lang": {"en"}, "to": {to}, "next": {to}, "return_to": {to}, "redirect_uri": {to}}, referer)
				location := p.Header.Get("Location")
				path, _, _ := strings.Cut(location, "?")
				if p.Status != http.StatusSeeOther || path != "/" && path != "/login" {
					t.Errorf("%q: %d to %q", referer, p.Status, location)
				}
			}
			p := switched(t, b, g, url.Values{"lang": {"en"}, "request": {to}}, g.ID+"/account")
			if wantPage(t, p, p.Status); p.Status != http.StatusForbidden && p.Status != http.StatusBadRequest {
				t.Errorf("request=%q: %d", to, p.Status)
			}
		}
	})
	t.Run("S13 another site, another browser and another language change nothing", func(t *testing.T) {
		b := harness.NewBrowser(t, g.ID)
		login := b.Get(authorizeURL(g, "web"))
		for _, header := range [][]string{{"Origin", "https://evil.example"}, {"Origin", "null"}, {"Sec-Fetch-Site", "cross-site"}} {
			p := send(t, b, http.MethodPost, g.ID+"/connect/language", "lang=zh", header...)
			if wantPage(t, p, http.StatusForbidden); len(cookies(t, p)) != 0 {
				t.Errorf("%v: %v", header, p.Header)
			}
		}
		stranger := harness.NewBrowser(t, g.ID)
		stranger.Get(g.ID + "/login")
		wantPage(t, switched(t, stranger, g, url.Values{"lang": {"zh"}, "request": {requestOf(t, login)}}, ""), http.StatusForbidden)
		for _, lang := range []string{"", "fr", "../zh", markup, strings.Repeat("z", 5000)} {
			p := switched(t, b, g, url.Values{"lang": {lang}}, g.ID+"/login")
			if wantPage(t, p, http.StatusBadRequest); len(cookies(t, p)) != 0 {
				t.Errorf("%.20q: %v", lang, p.Header)
			}
		}
		wantPage(t, b.Get(g.ID+"/connect/language?lang=zh"), http.StatusMethodNotAllowed)
	})
}

func TestFooterLinksToTheOperatorsPages(t *testing.T) { // S13
	const look = "pages {\n\t\t\tlogo /brand.svg wordmark\n\t\t\tlinks {\n\t\t\t\thelp https://example.com/help\n\t\t\t\tprivacy /privacy\n\t\t\t\tterms /terms\n\t\t\t\tforgot /forgot\n\t\t\t}\n\t\t}"
	g, _ := start(t, "$GLOBAL", look)
	b := harness.NewBrowser(t, g.ID)
	login := b.Get(authorizeURL(g, "web"))
	foot := having(parse(t, login), "footer", "class", "foot")
	if len(foot) != 1 || words(foot[0]) != "Help Privacy Terms 中文" {
		t.Fatalf("%s", login.Body)
	}
	for href, want := range map[string]string{"https://example.com/help": "Help", "/privacy": "Privacy", "/terms": "Terms", "/forgot": "Forgot your password?"} {
		if a := having(parse(t, login), "a", "href", href); len(a) != 1 || words(a[0]) != want {
			t.Errorf("%s: %d links", href, len(a))
		}
	}
	// The wordmark says the name, which is said once.
	header := having(parse(t, login), "header", "class", "site")
	if mark := having(header[0], "img", "alt", "ID"); len(mark) != 1 || words(header[0]) != "" {
		t.Errorf("the header: %s", login.Body)
	}
	consent := b.Submit(login, url.Values{"username": {username}, "password": {password}})
	if strings.Contains(consent.Body, "/forgot") || !strings.Contains(consent.Body, `href="/privacy"`) {
		t.Errorf("%s", consent.Body)
	}
	for _, spoiled := range []string{"http://example.com/help", "//example.com/help", "javascript:alert(1)", "data:text/html,x", `/\example.com`, "help", "https://user:pw@example.com/"} {
		if err := g.TryLoad(strings.Replace(site, "$GLOBAL", strings.Replace(look, "https://example.com/help", "`"+spoiled+"`", 1), 1)); err == nil {
			t.Errorf("%q was accepted", spoiled)
		}
	}
}
