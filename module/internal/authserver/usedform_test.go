package authserver_test

import (
	"net/http"
	"strings"
	"testing"
	"time"
)

// A browser's history may keep the sign-in form with its password. Whoever goes back and sends it again is not signed in,
// however the session has ended: here, elsewhere or by an administrator.
func TestSignInFormSignsInOnce(t *testing.T) {
	g := newBrowserRig(t)
	everywhere := func(b *tab) { b.submit(b.get(tokenIssuer+"/account"), "all", "everything") }
	for name, end := range map[string]func(b *tab){
		"signed out": func(b *tab) { b.submit(b.get(tokenIssuer + "/logout")) },
		"everywhere": everywhere,
		"elsewhere": func(*tab) {
			phone := g.browser()
			g.isConsent(phone.signIn(phone.get(authorizeURL(webRequest())), "ann", annsPassword))
			everywhere(phone)
		},
	} {
		t.Run(name, func(t *testing.T) {
			b := g.browser()
			login, plain := b.get(authorizeURL(webRequest())), b.get(tokenIssuer+"/login")
			consent := b.signIn(login, "ann", annsPassword)
			g.isConsent(consent)
			g.isConsent(b.signIn(login, "ann", "")) // a reload of the consent page shows it, whatever the password
			if p := b.signIn(plain, "ann", ""); p.status != http.StatusSeeOther || p.header.Get("Location") != "/auth/login" {
				t.Errorf("another form from before: %d %s", p.status, p.header.Get("Location"))
			}
			end(b)
			for range 2 {
				g.isOutdated(b.signIn(login, "ann", annsPassword), "ann")
				b.signIn(plain, "ann", annsPassword)
				g.isLogin(b.get(tokenIssuer + "/account"))
			}
			g.isConsent(b.signIn(b.signIn(login, "ann", annsPassword), "ann", annsPassword)) // the page that it leads to is a new one
		})
	}
}

// The token says which sign-in the form was shown after, and nobody can change that.
func TestUsedFormCannotBePassedOffAsNew(t *testing.T) {
	g := newBrowserRig(t)
	b := g.browser()
	login := b.get(authorizeURL(webRequest()))
	g.isConsent(b.signIn(login, "ann", annsPassword))
	b.submit(b.get(tokenIssuer + "/logout"))
	used, fresh := login.form().Get("token"), b.get(authorizeURL(webRequest())).form().Get("token")
	last, rest, _ := strings.Cut(fresh, ".")
	_, mac, _ := strings.Cut(rest, ".")
	for _, token := range []string{
		last + used, last + "." + used, fresh + used, "." + used, ".", "..", "", mac, "." + mac, ".." + mac, last + "." + mac, last + ".." + mac, last + ".zzzzzz." + mac,
	} {
		if p := b.submit(login, "token", token, "username", "ann", "password", annsPassword); p.status != http.StatusForbidden {
			t.Errorf("%s: %d", token, p.status)
		}
	}
}

// A page never shows a cookie's value: scripts and whoever the page is sent to cannot read cookies.
func TestSignInFormShowsNoCookie(t *testing.T) {
	g := newBrowserRig(t)
	b := g.browser()
	p := b.get(tokenIssuer + "/login")
	if len(b.cookies) < 2 {
		t.Fatalf("the browser has the cookies %v", b.cookies)
	}
	for name, value := range b.cookies {
		if strings.Contains(p.body, value) {
			t.Errorf("the value of %s stands in the page", name)
		}
	}
}

// A right password that was refused while its user was locked does not work later, when somebody else reloads the page.
func TestOldSignInFormSignsNobodyIn(t *testing.T) {
	g := newBrowserRig(t)
	b := g.browser()
	login := b.get(tokenIssuer + "/login")
	g.pass(10*time.Minute - time.Second)
	for range 10 {
		b.signIn(login, "ann", "wrong")
	}
	if p := b.signIn(login, "ann", annsPassword); p.status != http.StatusUnauthorized {
		t.Fatalf("locked: %d", p.status)
	}
	g.pass(time.Second)
	g.isOutdated(b.signIn(login, "ann", annsPassword), "ann")
	g.pass(20 * time.Minute)
	again := b.signIn(login, "ann", annsPassword)
	g.isOutdated(again, "ann")
	if p := b.signIn(again, "ann", annsPassword); p.status != http.StatusSeeOther {
		t.Errorf("the form that it leads to: %d", p.status)
	}
}

// Nor does one that was used before the browser lost the cookie that says so.
func TestLostCookieMakesNoFormNew(t *testing.T) {
	g := newBrowserRig(t)
	b := g.browser()
	login := b.get(tokenIssuer + "/login")
	for _, lost := range []page{login, b.get(tokenIssuer + "/login")} {
		delete(b.cookies, lastSignInCookie)
		g.isOutdated(b.signIn(lost, "ann", annsPassword), "ann")
		if b.cookies[lastSignInCookie] == "" {
			t.Error("the cookie is not set again")
		}
	}
}

// Two people, or one with two accounts, have a form each in two tabs. Nobody is answered for who has not just typed a name
// there: the second gets a form again, and not an authorization for the first.
func TestUsedFormDoesNotAnswerForSomebodyElse(t *testing.T) {
	g := newBrowserRig(t, twoUsers)
	b := g.signedIn() // with the consent of ann
	b.submit(b.get(tokenIssuer + "/logout"))
	first, second := b.get(authorizeURL(webRequest())), b.get(authorizeURL(webRequest()))
	plain := b.get(tokenIssuer + "/login")
	g.issued(b.signIn(first, "ann", annsPassword), http.StatusSeeOther)
	for _, login := range []page{second, plain} {
		g.isOutdated(b.signIn(login, "bob", "y"), "bob")
	}
	g.issued(b.signIn(second, "ann", annsPassword), http.StatusSeeOther)
	again := b.signIn(second, "bob", "y")
	g.isConsent(b.signIn(again, "bob", "y"))
	g.isOutdated(b.signIn(second, "ann", annsPassword), "ann") // the browser knows her too, but bob is signed in
}

// A used form also says so if whoever is signed in cannot answer the request: another is expected, or a newer sign-in.
func TestUsedFormOfARequestForAnother(t *testing.T) {
	g := newOpenIDRig(t)
	ann := g.signedInAs("ann", "x")
	hint := g.tokensOf(g.signedInAs("bob", "y"), rpRequest()).id
	login := ann.get(authorizeURL(rpRequest().with("id_token_hint", hint)))
	g.isLogin(login)
	ann.signIn(ann.get(authorizeURL(rpRequest().with("prompt", "login"))), "ann", "x")
	g.isOutdated(ann.signIn(login, "ann", "x"), "ann")

	used := ann.get(authorizeURL(rpRequest().with("prompt", "login")))
	ann.signIn(used, "ann", "x")
	g.pass(10 * time.Second)
	newer := ann.get(authorizeURL(rpRequest().with("max_age", "1")))
	g.isLogin(newer)
	again := ann.submit(newer, "token", used.form().Get("token"), "username", "ann", "password", "x")
	g.isOutdated(again, "ann")
	g.issued(ann.signIn(again, "ann", "x"), http.StatusSeeOther)
}

// isOutdated checks that p asks for the password again, and says why.
func (g *tokenRig) isOutdated(p page, username string) {
	g.t.Helper()
	for _, part := range []string{`type="password"`, "your password was not checked", `value="` + username + `"`} {
		if p.status != http.StatusOK || !strings.Contains(p.body, part) {
			g.t.Errorf("%d, or no %s: %s", p.status, part, p.body)
		}
	}
}
