package authserver_test

import (
	"errors"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/gatehouse/gatehouse/module/internal/authserver"
	"github.com/gatehouse/gatehouse/module/store"
)

const (
	browserCookie    = "__Host-gatehouse-browser"
	lastSignInCookie = "__Host-gatehouse-last-sign-in"
	sessionCookie    = "__Host-gatehouse"
)

func cookieNamed(p page, name string) *http.Cookie {
	for _, c := range p.set {
		if c.Name == name {
			return c
		}
	}
	return nil
}

func TestCookiesAreBoundToTheHost(t *testing.T) { // U04
	for _, c := range []struct {
		issuer, prefix string
		secure         bool
	}{
		{tokenIssuer, "__Host-", true},
		{"http://127.0.0.1:8080/auth", "", false},
	} {
		g := newBrowserRig(t, func(a *authserver.Config) { a.Issuer = must(url.Parse(c.issuer)) })
		b := g.browser()
		origin := strings.TrimSuffix(c.issuer, "/auth")
		login := b.get(c.issuer + "/login")
		in := b.do("POST", c.issuer+"/login", login.form("username", "ann", "password", annsPassword).Encode(), "Origin", origin)
		for _, k := range []*http.Cookie{login.set[0], cookieNamed(in, c.prefix+"gatehouse")} {
			if k == nil || !strings.HasPrefix(login.set[0].Name, c.prefix+"gatehouse-browser-") {
				t.Fatalf("%s: no cookie: %v %v", c.issuer, login.set, in.set)
			}
			if k.Secure != c.secure || !k.HttpOnly || k.Path != "/" || k.SameSite != http.SameSiteLaxMode || k.Domain != "" || len(k.Value) != 43 {
				t.Errorf("%+v", k)
			}
		}
		if again := b.get(c.issuer + "/logout"); len(again.set) != 0 {
			t.Errorf("a browser that has its cookies gets others: %v", again.set)
		}
	}
}

func TestSignInStartsANewSessionAndEndsTheOldOne(t *testing.T) { // U05
	g := newBrowserRig(t)
	b := g.browser()
	planted := strings.Repeat("A", 43)
	b.cookies[sessionCookie] = planted
	p := b.signIn(b.get(tokenIssuer+"/login"), "ann", annsPassword)
	first := b.cookies[sessionCookie]
	if p.status != http.StatusSeeOther || p.header.Get("Location") != "/auth/account" || first == planted {
		t.Fatalf("%d %v", p.status, p.header)
	}
	g.issued(b.submit(b.get(authorizeURL(webRequest())), "decision", "allow"), http.StatusSeeOther)
	login := b.get(authorizeURL(webRequest().with("prompt", "login")))
	g.issued(b.signIn(login, "ann", annsPassword), http.StatusSeeOther)
	second := b.cookies[sessionCookie]
	if second == first {
		t.Fatal("the session was kept")
	}
	b.cookies[sessionCookie] = first
	g.isLogin(b.get(authorizeURL(webRequest())))
	b.cookies[sessionCookie] = second
	g.issued(b.get(authorizeURL(webRequest())), http.StatusFound)
}

func TestStoreHoldsNoSessionIDOrCode(t *testing.T) { // O07
	g := newBrowserRig(t)
	b := g.browser()
	p := b.submit(b.consentPage(webRequest()), "decision", "allow")
	code := g.issued(p, http.StatusSeeOther)
	for _, kind := range []store.Kind{store.KindSession, store.KindConsent} {
		records, err := g.store.List(t.Context(), kind, "u1", "", 10)
		if err != nil || len(records) != 1 {
			t.Fatalf("%s: %d records, %v", kind, len(records), err)
		}
		if all := records[0].ID + string(records[0].Value); strings.Contains(all, b.cookies[sessionCookie]) || strings.Contains(all, code) {
			t.Error(all)
		}
	}
}

func TestSessionHasIdleAndAbsoluteTimeouts(t *testing.T) { // U26
	g := newBrowserRig(t)
	b := g.signedIn()
	for range 11 { // 12 h absolute, 1 h idle
		g.pass(59 * time.Minute)
		g.issued(b.get(authorizeURL(webRequest())), http.StatusFound)
	}
	g.pass(59 * time.Minute)
	g.issued(b.get(authorizeURL(webRequest())), http.StatusFound)
	g.pass(13 * time.Minute) // 12 h and 1 min
	g.isLogin(b.get(authorizeURL(webRequest())))

	g = newBrowserRig(t)
	b = g.signedIn()
	g.pass(time.Hour)
	g.isLogin(b.get(authorizeURL(webRequest())))
	if records, err := g.store.List(t.Context(), store.KindSession, "u1", "", 10); err != nil || len(records) != 0 {
		t.Errorf("the record outlives the session: %v, %v", records, err)
	}
}

func TestShorterIdleTimeoutAppliesToOlderSessions(t *testing.T) {
	var config authserver.Config
	g := newBrowserRig(t, func(c *authserver.Config) { config = *c })
	b := g.signedIn()
	config.Lifetimes.SessionIdle = 5 * time.Minute
	g.server = must(authserver.New(config)) // a reload
	g.pass(5 * time.Minute)
	g.isLogin(b.get(authorizeURL(webRequest())))
}

func TestSessionLastUseIsWrittenOnceAMinute(t *testing.T) {
	g := newBrowserRig(t)
	b := g.signedIn()
	swaps := func(after time.Duration) (n int) {
		g.pass(after)
		g.store.plan(0, 0, false, nil)
		g.isLogoutPage(b.get(tokenIssuer + "/logout"))
		for _, op := range g.store.done() {
			if op == "swap" {
				n++
			}
		}
		return n
	}
	if a, b, c := swaps(59*time.Second), swaps(2*time.Second), swaps(time.Second); a != 0 || b != 1 || c != 0 {
		t.Errorf("%d %d %d writes", a, b, c)
	}
}

func (g *tokenRig) isLogoutPage(p page) {
	g.t.Helper()
	if p.status != http.StatusOK || !strings.Contains(p.body, `action="/auth/logout"`) || !strings.Contains(p.body, "ann") {
		g.t.Fatalf("no logout page: %d %s", p.status, p.body)
	}
	g.isPage(p)
}

func TestSignOutTakesEffectAtOnce(t *testing.T) { // U06
	g := newBrowserRig(t)
	b := g.signedIn()
	stolen := &tab{g, map[string]string{sessionCookie: b.cookies[sessionCookie], browserCookie: b.browserID()}}
	confirm := b.get(tokenIssuer + "/logout")
	g.isLogoutPage(confirm)
	g.issued(b.get(authorizeURL(webRequest())), http.StatusFound) // a GET signs nobody out
	g.isError(b.do("POST", tokenIssuer+"/logout", "token=x"), http.StatusForbidden)
	g.isError(b.do("POST", tokenIssuer+"/logout", confirm.form().Encode(), "Origin", "https://web.example"), http.StatusForbidden)
	done := b.submit(confirm)
	if k := cookieNamed(done, sessionCookie); done.status != http.StatusOK || k == nil || k.MaxAge >= 0 || k.Path != "/" || !k.Secure {
		t.Fatalf("%d %v", done.status, done.set)
	}
	g.isLogin(stolen.get(authorizeURL(webRequest())))
	if p := b.get(tokenIssuer + "/logout"); strings.Contains(p.body, "<form method") {
		t.Error("still asked although nobody is signed in")
	}
	if p := b.submit(confirm); p.status != http.StatusOK {
		t.Errorf("a second time: %d", p.status)
	}
}

func TestCrossSiteFormsAreRefused(t *testing.T) { // U07, U08
	g := newBrowserRig(t)
	b, other := g.browser(), g.browser()
	login, foreign := b.get(authorizeURL(webRequest())), other.get(authorizeURL(webRequest()))
	good := login.form("username", "ann", "password", annsPassword)
	with := func(name, value string) string {
		v := url.Values{}
		for k, all := range good {
			v[k] = all
		}
		if v.Set(name, value); value == "" {
			v.Del(name)
		}
		return v.Encode()
	}
	for name, c := range map[string]struct {
		body   string
		header []string
	}{
		"no token":                      {with("token", ""), nil},
		"a foreign token":               {with("token", foreign.form().Get("token")), nil},
		"a token of another page":       {with("token", b.get(tokenIssuer+"/logout").form().Get("token")), nil},
		"a foreign request":             {with("request", foreign.form().Get("request")), nil}, // A41
		"a changed request":             {with("request", strings.Replace(good.Get("request"), good.Get("request")[40:41], "_", 1)+"A"), nil},
		"a cut request":                 {with("request", good.Get("request")[:60]), nil},
		"cross-site":                    {good.Encode(), []string{"Sec-Fetch-Site", "cross-site"}},
		"same-site":                     {good.Encode(), []string{"Sec-Fetch-Site", "same-site"}},
		"cross-site, no Origin":         {good.Encode(), []string{"Sec-Fetch-Site", "cross-site", "Origin", ""}},
		"Origin null":                   {good.Encode(), []string{"Origin", "null"}},
		"Origin null alone":             {good.Encode(), []string{"Origin", "null", "Sec-Fetch-Site", ""}},
		"Origin http":                   {good.Encode(), []string{"Origin", "http://id.example", "Sec-Fetch-Site", ""}},
		"Origin with a prefix":          {good.Encode(), []string{"Origin", "https://id.example.evil", "Sec-Fetch-Site", ""}},
		"Origin with a port":            {good.Encode(), []string{"Origin", "https://id.example:8443", "Sec-Fetch-Site", ""}},
		"Origin of the client":          {good.Encode(), []string{"Origin", "https://web.example", "Sec-Fetch-Site", ""}},
		"Host agrees with a bad Origin": {good.Encode(), []string{"Origin", "https://evil.example", "Sec-Fetch-Site", ""}},
	} {
		target := tokenIssuer + "/login"
		if strings.HasPrefix(name, "Host") {
			target = "https://evil.example/auth/login"
		}
		before := g.store.Len()
		p := b.do("POST", target, c.body, c.header...)
		if p.status != http.StatusForbidden || cookieNamed(p, sessionCookie) != nil || g.store.Len() != before {
			t.Errorf("%s: %d %v", name, p.status, p.header)
			continue
		}
		g.isError(p, http.StatusForbidden)
	}
	strange := &tab{g, map[string]string{}}
	g.isError(strange.do("POST", tokenIssuer+"/login", good.Encode()), http.StatusForbidden)
	g.isError(other.do("POST", tokenIssuer+"/login", good.Encode()), http.StatusForbidden)
	// The same form from where it belongs; a client that is no browser sends neither header.
	p := b.do("POST", tokenIssuer+"/login", good.Encode(), "Origin", "", "Sec-Fetch-Site", "")
	g.isConsent(p)
}

func TestOriginIsNormalizedForComparison(t *testing.T) { // U07
	for issuer, origin := range map[string]string{
		"https://ID.example:443/auth": "https://id.example", "https://id.example:8443/auth": "https://id.example:8443",
		"http://localhost:80/auth": "http://localhost", "http://[::1]:8080/auth": "http://[::1]:8080",
	} {
		g := newBrowserRig(t, func(c *authserver.Config) { c.Issuer = must(url.Parse(issuer)) })
		b := g.browser()
		login := b.get(issuer + "/login")
		p := b.do("POST", issuer+"/login", login.form("username", "ann", "password", annsPassword).Encode(), "Origin", origin)
		if p.status != http.StatusSeeOther {
			t.Errorf("%s from %s: %d", issuer, origin, p.status)
		}
	}
}

func TestQueryCannotSetTheTargetAfterSignIn(t *testing.T) { // U10
	g := newBrowserRig(t)
	for _, name := range []string{"return_to", "redirect_url", "next", "rd", "continue", "request"} {
		for _, to := range []string{"https://evil.example", "//evil.example", `/\evil.example`, "javascript:alert(1)", "/%09/evil.example"} {
			b := g.browser()
			login := b.get(tokenIssuer + "/login?" + url.Values{name: {to}}.Encode())
			g.isLogin(login)
			v := login.form("username", "ann", "password", annsPassword)
			if strings.Contains(login.body, "evil") || v.Has("request") {
				t.Fatal(login.body)
			}
			if name != "request" {
				v.Set(name, to)
			}
			p := b.do("POST", tokenIssuer+"/login?"+url.Values{name: {to}}.Encode(), v.Encode())
			if p.status != http.StatusSeeOther || p.header.Get("Location") != "/auth/account" {
				t.Errorf("%s=%s: %d %v", name, to, p.status, p.header)
			}
			g.pass(time.Minute)
		}
	}
}

func TestSealedRequestInTheFormCannotBeChanged(t *testing.T) { // A17, A40
	g := newBrowserRig(t)
	b := g.browser()
	forged := []string{
		"client_id", "app", "redirect_uri", "https://evil.example", "scope", "read write", "code_challenge", "x", "nonce", "n",
		"state", "T", "sub", "root", "user", "root", "response_type", "token",
	}
	login := b.get(authorizeURL(webRequest()))
	consent := b.submit(login, append(forged, "username", "ann", "password", annsPassword)...)
	g.isConsent(consent)
	code := g.issued(b.submit(consent, append(forged, "decision", "allow")...), http.StatusSeeOther)
	if a := g.want(g.token(redeemWeb(code)), 200, ""); a.tokens.Scope != "read" {
		t.Error(a.body)
	}
}

func TestExpiredSignInPageOffersARestart(t *testing.T) { // A44
	g := newBrowserRig(t)
	b := g.browser()
	q := appRequest().with("state", "a&b c").with("nonce", "n").with("prompt", "login consent").with("ui_locales", "zh")
	login := b.get(authorizeURL(q))
	g.pass(10*time.Minute - time.Second)
	consent := b.signIn(login, "ann", annsPassword)
	g.isConsent(consent)
	g.pass(time.Second)
	for _, p := range []page{b.signIn(login, "ann", annsPassword), b.submit(consent, "decision", "allow")} {
		g.isError(p, http.StatusBadRequest)
		_, link, _ := strings.Cut(p.body, `class="button" href="`)
		link, _, _ = strings.Cut(link, `"`)
		if !strings.HasPrefix(link, "/auth/authorize?") {
			t.Fatalf("no link to begin again: %s", p.body)
		}
		again := must(url.Parse(strings.ReplaceAll(link, "&amp;", "&"))).Query()
		for name, value := range q {
			if again.Get(name) != value {
				t.Errorf("%s is %q, was %q", name, again.Get(name), value)
			}
		}
	}
}

func TestTwoTabsOfOneBrowserAreIndependent(t *testing.T) {
	g := newBrowserRig(t)
	b := g.browser()
	one, two := b.get(authorizeURL(webRequest())), b.get(authorizeURL(appRequest()))
	first := b.signIn(one, "ann", annsPassword)
	second := b.signIn(two, "ann", annsPassword) // replaces the session of the first
	g.isConsent(first)
	g.issued(b.submit(first, "decision", "allow"), http.StatusSeeOther)
	g.issued(b.submit(second, "decision", "allow"), http.StatusSeeOther)
}

func TestLoginHintPrefillsTheNameAndRevealsNothing(t *testing.T) { // U25
	g := newBrowserRig(t)
	known := g.browser().get(authorizeURL(webRequest().with("login_hint", "ann")))
	unknown := g.browser().get(authorizeURL(webRequest().with("login_hint", "nna")))
	if !strings.Contains(known.body, `value="ann"`) || blank(known) != strings.ReplaceAll(blank(unknown), "nna", "ann") {
		t.Errorf("%s\n%s", known.body, unknown.body)
	}
	for _, hint := range []string{`"><script>alert(1)</script>`, strings.Repeat("a", 300), "a\r\nb"} {
		p := g.browser().get(authorizeURL(webRequest().with("login_hint", hint)))
		g.isLogin(p)
		if strings.Contains(p.body, "<script") || strings.Contains(p.body, "aaaa") {
			t.Error(p.body)
		}
	}
}

// blank is a page without what differs from one time to the next.
func blank(p page) string { return hiddenTag.ReplaceAllString(p.body, "") }

func TestPagesUseTheRequestedLanguage(t *testing.T) {
	g := newBrowserRig(t)
	b := g.browser()
	login := b.get(authorizeURL(webRequest().with("ui_locales", "zh-CN en").with("scope", "read")))
	consent := b.signIn(login, "ann", annsPassword)
	for _, p := range []page{login, consent} {
		if !strings.Contains(p.body, `<html lang="zh`) {
			t.Errorf("%.300s", p.body)
		}
	}
	if p := b.get(authorizeURL(webRequest().with("client_id", "nobody").with("ui_locales", "zh"))); !strings.Contains(p.body, `<html lang="zh`) {
		t.Errorf("%.300s", p.body)
	}
	long := webRequest().with("ui_locales", strings.Repeat("zh ", 1000)).with("prompt", "login")
	if p := b.get(authorizeURL(long)); !strings.Contains(p.body, `<html lang="en`) {
		t.Errorf("%.300s", p.body)
	}
}

func TestUnavailableDirectoryOrKeysShowAnErrorPage(t *testing.T) {
	g := newBrowserRig(t)
	b := g.signedIn()
	confirm, consent := b.get(tokenIssuer+"/logout"), b.get(authorizeURL(webRequest().with("prompt", "consent")))
	login := b.get(authorizeURL(webRequest().with("prompt", "login")))
	g.users.Fail(errors.New("away"))
	for _, p := range []page{
		b.get(authorizeURL(webRequest())), b.get(tokenIssuer + "/login"),
		b.signIn(login, "ann", annsPassword), b.signIn(login, "ann", "wrong"), b.submit(consent, "decision", "allow"),
	} {
		g.isError(p, http.StatusServiceUnavailable)
	}
	if p := b.get(tokenIssuer + "/logout"); p.status != http.StatusOK {
		t.Errorf("being asked needs no directory: %d", p.status)
	}
	if p := b.submit(confirm); p.status != http.StatusOK {
		t.Errorf("signing out needs no directory: %d", p.status)
	}
}

func TestInvalidPageRequestsAreErrors(t *testing.T) {
	g := newBrowserRig(t)
	b := g.browser()
	g.isError(b.get(tokenIssuer+"/nothing"), http.StatusNotFound)
	g.isError(b.get(tokenIssuer+"/consent"), http.StatusBadRequest)
	g.isError(b.do("PUT", tokenIssuer+"/login", ""), http.StatusMethodNotAllowed)
	login := b.get(tokenIssuer + "/login")
	g.isError(b.do("POST", tokenIssuer+"/login", login.form().Encode(), "Content-Type", "text/plain"), http.StatusUnsupportedMediaType)
	g.isError(b.do("POST", tokenIssuer+"/login", ""), http.StatusBadRequest)
	g.isError(b.do("POST", tokenIssuer+"/login", login.form().Encode()+"&token=x"), http.StatusBadRequest)
	g.isError(b.do("POST", tokenIssuer+"/login", strings.Repeat("a", 64<<10+1)), http.StatusRequestEntityTooLarge)
}
