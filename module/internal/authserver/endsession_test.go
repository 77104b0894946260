package authserver_test

import (
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/gatehouse/gatehouse/module/oauth"
)

func bye(p params) string { return tokenIssuer + "/logout?" + p.encode() }

// gone checks a redirect after a sign-out.
func (g *openIDRig) gone(p page, status int, to string) {
	g.t.Helper()
	if p.status != status || p.header.Get("Location") != to || p.body != "" || p.header.Get("Referrer-Policy") != "no-referrer" {
		g.t.Fatalf("got %d %s, want %d %s", p.status, p.header.Get("Location"), status, to)
	}
}

// isSignedOut checks the page that says so.
func (g *openIDRig) isSignedOut(p page) {
	g.t.Helper()
	if p.status != http.StatusOK || strings.Contains(p.body, "<form method") || p.header.Get("Location") != "" {
		g.t.Fatalf("%d %v %s", p.status, p.header, p.body)
	}
	g.isPage(p)
}

func (g *openIDRig) isSignedIn(b *tab, yes bool) {
	g.t.Helper()
	if p := b.get(authorizeURL(rpRequest().with("prompt", "none"))); yes {
		g.issued(p, http.StatusFound)
	} else {
		g.refused(p, http.StatusFound, "login_required")
	}
}

func TestIDTokenHintSignsOutWithoutConfirmation(t *testing.T) {
	g := newOpenIDRig(t)
	b := g.signedInAs("ann", "x")
	hint := g.tokensOf(b, rpRequest()).id
	g.events.told()
	stolen := &tab{g.tokenRig, map[string]string{sessionCookie: b.cookies[sessionCookie], browserCookie: b.browserID()}}
	p := params{"id_token_hint": hint, "post_logout_redirect_uri": rpBye, "state": "a b&c"}
	g.gone(b.get(bye(p)), http.StatusFound, rpBye+"&state=a%20b%26c")
	if b.cookies[sessionCookie] != "" {
		t.Error("the cookie stays")
	}
	g.isSignedIn(b, false)
	g.isSignedIn(stolen, false)
	if got := g.events.told(); got != "sign_out rp u1" {
		t.Errorf("recorded: %s", got)
	}
	// Again, with nobody signed in: back to the client, and nothing to record.
	g.gone(b.get(bye(p.with("client_id", "rp").with("state", ""))), http.StatusFound, rpBye)
	if got := g.events.told(); got != "" {
		t.Errorf("recorded: %s", got)
	}
}

func TestExpiredHintStillSignsOut(t *testing.T) {
	g := newOpenIDRig(t)
	b := g.signedInAs("ann", "x")
	hint := g.tokensOf(b, rpRequest()).id
	for range 3 {
		g.pass(50 * time.Minute)
		g.isSignedIn(b, true)
	}
	g.isSignedOut(b.get(bye(params{"id_token_hint": hint})))
	g.isSignedIn(b, false)
}

func TestLogoutRedirectsToRegisteredAddressesOnly(t *testing.T) {
	g := newOpenIDRig(t)
	for _, to := range []string{
		"https://evil.example", "//evil.example", "https://rp.example/bye", rpBye + "#x", rpBye + "&x=1", rpBye + "/", strings.ToUpper(rpBye),
		"https://rp.example/bye%3Ffrom=id", "https://rp.example@evil.example/bye?from=id", rpRedirect, "javascript:alert(1)", " " + rpBye,
	} {
		b := g.signedInAs("ann", "x")
		hint := g.tokensOf(b, rpRequest()).id
		g.isSignedOut(b.get(bye(params{"id_token_hint": hint, "post_logout_redirect_uri": to, "state": "S"})))
		g.isSignedOut(b.get(bye(params{"client_id": "rp", "post_logout_redirect_uri": to})))
		b = g.signedInAs("ann", "x")
		g.isSignedOut(b.submit(b.get(bye(params{"client_id": "rp", "post_logout_redirect_uri": to}))))
		g.isSignedIn(b, false)
	}
	// One client's address is nothing for another, nor for nobody.
	g.clients.change("rq", func(c *oauth.Client) { c.PostLogoutRedirectURIs = nil })
	b := g.signedInAs("ann", "x")
	g.isSignedOut(b.submit(b.get(bye(params{"client_id": "rq", "post_logout_redirect_uri": rpBye}))))
	g.isSignedOut(b.get(bye(params{"post_logout_redirect_uri": rpBye})))
	g.isSignedOut(b.get(bye(params{"client_id": "unknown", "post_logout_redirect_uri": rpBye})))
	g.gone(b.get(bye(params{"client_id": "rp", "post_logout_redirect_uri": "com.example.rp:/bye", "state": "S"})), http.StatusFound, "com.example.rp:/bye?state=S")
}

func TestSignOutWithoutIDTokenAsksTheUser(t *testing.T) {
	g := newOpenIDRig(t)
	ann, bob := g.signedInAs("ann", "x"), g.signedInAs("bob", "y")
	again := g.signedInAs("ann", "x")
	hint := g.tokensOf(ann, rpRequest()).id
	back := params{"post_logout_redirect_uri": rpBye, "state": "S"}
	g.clients.change("rp", func(c *oauth.Client) {
		c.Grants = append(slices.Clone(c.Grants), oauth.Password)
		c.Until = map[oauth.GrantType]time.Time{oauth.Password: g.now().Add(time.Hour)}
	})
	sessionless := g.idToken(g.want(g.token(passwordOf("ann", "x").with("client_id", "rp").with("scope", "openid")), http.StatusOK, "")).id
	for name, c := range map[string]struct {
		b    *tab
		p    params
		back bool // leads back to the client after the user's answer
	}{
		"nothing":                 {ann, params{}, false},
		"the client's name":       {ann, back.with("client_id", "rp"), true},
		"a forged hint":           {ann, back.with("id_token_hint", hint[:len(hint)-4]+"AAAA"), false},
		"a forged hint, a client": {ann, back.with("id_token_hint", hint[:len(hint)-4]+"AAAA").with("client_id", "rp"), true},
		"another user's hint":     {bob, back.with("id_token_hint", hint), true},
		"another session's hint":  {again, back.with("id_token_hint", hint), true},
		"a hint of no session":    {ann, back.with("id_token_hint", sessionless), true},
	} {
		page := c.b.get(bye(c.p))
		if page.status != http.StatusOK || !strings.Contains(page.body, `action="/auth/logout"`) || page.header.Get("Location") != "" {
			t.Fatalf("%s: %d %v", name, page.status, page.header)
		}
		g.isSignedIn(c.b, true)
		// Another browser cannot use the page's form.
		g.isError(strangerTo(c.b, ann, bob).do("POST", tokenIssuer+"/logout", page.form().Encode()), http.StatusForbidden)
		done := (&tab{g.tokenRig, map[string]string{browserCookie: c.b.browserID()}}).submit(page) // without the session, so that it stays
		if c.back {
			g.gone(done, http.StatusSeeOther, rpBye+"&state=S")
		} else {
			g.isSignedOut(done)
		}
	}
	g.gone(ann.submit(ann.get(bye(back.with("client_id", "rp")))), http.StatusSeeOther, rpBye+"&state=S")
	g.isSignedIn(ann, false)
}

// strangerTo is another of the two browsers than b.
func strangerTo(b, one, two *tab) *tab {
	if b == one {
		return two
	}
	return one
}

func TestSignOutFormTamperingIsRefused(t *testing.T) {
	g := newOpenIDRig(t)
	b := g.signedInAs("ann", "x")
	page := b.get(bye(params{"client_id": "rp", "post_logout_redirect_uri": rpBye}))
	v := page.form()
	for name, change := range map[string]func(url.Values){
		"changed": func(v url.Values) {
			first, rest := "A", v.Get("request")
			if strings.HasPrefix(rest, first) {
				first = "B"
			}
			v.Set("request", first+rest[1:])
		},
		"open": func(v url.Values) { v.Set("request", `{"client":"rp","to":"https://evil.example"}`) },
	} {
		w := url.Values{"token": {v.Get("token")}, "request": {v.Get("request")}}
		change(w)
		g.isError(b.do("POST", tokenIssuer+"/logout", w.Encode()), http.StatusForbidden)
		g.isSignedIn(b, true)
		_ = name
	}
	// A page of another kind: its sealed request is none of a sign-out.
	login := g.browser()
	sealed := login.get(authorizeURL(rpRequest())).form().Get("request")
	g.isError(b.do("POST", tokenIssuer+"/logout", url.Values{"token": {v.Get("token")}, "request": {sealed}}.Encode()), http.StatusForbidden)
	// What is no longer registered is no longer gone to.
	g.clients.change("rp", func(c *oauth.Client) { c.PostLogoutRedirectURIs = nil })
	g.isSignedOut(b.submit(page))
	g.isSignedIn(b, false)
}

func TestOldLogoutPageStillSignsOut(t *testing.T) {
	g := newOpenIDRig(t)
	b := g.signedInAs("ann", "x")
	page := b.get(bye(params{"client_id": "rp", "post_logout_redirect_uri": rpBye}))
	g.pass(11 * time.Minute)
	g.isSignedOut(b.submit(page))
	g.isSignedIn(b, false)
}

func TestLogoutPostRedirectsToGet(t *testing.T) {
	g := newOpenIDRig(t)
	b := g.signedInAs("ann", "x")
	hint := g.tokensOf(b, rpRequest()).id
	p := params{"id_token_hint": hint, "post_logout_redirect_uri": rpBye, "state": "a&b", "ui_locales": "zh", "other": "x"}
	foreign := g.browser() // a post from another site carries no cookie
	relay := foreign.do("POST", tokenIssuer+"/logout", p.encode(), "Origin", "https://rp.example", "Sec-Fetch-Site", "cross-site")
	to := relay.header.Get("Location")
	if relay.status != http.StatusSeeOther || !strings.HasPrefix(to, "/auth/logout?id_token_hint=") || strings.Contains(to, "other") {
		t.Fatalf("%d %s", relay.status, to)
	}
	g.gone(b.get("https://id.example"+to), http.StatusFound, rpBye+"&state=a%26b")
	g.isSignedIn(b, false)
	// Our own form is not: it stays where the token proves it.
	b = g.signedInAs("ann", "x")
	v := b.get(tokenIssuer+"/logout").form("client_id", "rp")
	g.isError(b.do("POST", tokenIssuer+"/logout", v.Encode(), "Origin", "https://rp.example"), http.StatusForbidden)
	g.isError(b.do("POST", tokenIssuer+"/logout", "x=y"), http.StatusForbidden)
	g.isSignedIn(b, true)
}

func TestInvalidSignOutRequests(t *testing.T) {
	g := newOpenIDRig(t)
	b := g.signedInAs("ann", "x")
	hint := g.tokensOf(b, rpRequest()).id
	for _, query := range []string{
		"id_token_hint=" + hint + "&client_id=rq",
		"id_token_hint=" + hint + "&id_token_hint=" + hint,
		"client_id=rp&post_logout_redirect_uri=" + url.QueryEscape(rpBye) + "&post_logout_redirect_uri=" + url.QueryEscape(rpBye),
		"client_id=rp&state=" + strings.Repeat("s", 4097),
	} {
		g.isError(b.get(tokenIssuer+"/logout?"+query), http.StatusBadRequest)
	}
	back := "client_id=rp&post_logout_redirect_uri=" + url.QueryEscape(rpBye)
	for _, query := range []string{back + "&state=%ff", back + "&state=%00", back + "&state=" + strings.Repeat("s", 17<<10)} {
		page := b.get(tokenIssuer + "/logout?" + query) // unreadable as a whole, and no reason to stay
		g.isLogoutPage(page)
		g.isSignedIn(b, true)
		if done := (&tab{g.tokenRig, map[string]string{browserCookie: b.browserID()}}).submit(page); done.header.Get("Location") != "" {
			t.Errorf("sent to %v", done.header)
		}
	}
	g.isSignedIn(b, true)
}

func TestSignOutPageUsesTheClientsLanguage(t *testing.T) {
	g := newOpenIDRig(t)
	b := g.signedInAs("ann", "x")
	page := b.get(bye(params{"ui_locales": "zh"}))
	if !strings.Contains(page.body, `<html lang="zh`) {
		t.Errorf("%.200s", page.body)
	}
	if done := b.submit(page); !strings.Contains(done.body, `<html lang="zh`) {
		t.Errorf("%.200s", done.body)
	}
}
