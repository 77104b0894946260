package authserver_test

import (
	"net/http"
	"testing"
)

// Whoever goes back in the history of a browser where somebody signed out, and sends the form with the password again,
// is not signed in.
func TestSignInCannotBeRepeatedAfterSigningOut(t *testing.T) {
	for path, button := range map[string][]string{"/logout": nil, "/account": {"all", "everything"}} {
		g := newBrowserRig(t)
		b := g.browser()
		login := b.get(authorizeURL(webRequest()))
		g.isConsent(b.signIn(login, "ann", annsPassword))
		g.isConsent(b.signIn(login, "ann", annsPassword)) // as long as she is signed in, it may be sent again
		b.submit(b.get(tokenIssuer+path), button...)
		if p := b.signIn(login, "ann", annsPassword); p.status != http.StatusForbidden {
			t.Errorf("%s: the form of the history: %d", path, p.status)
		}
		g.isLogin(b.get(tokenIssuer + "/account"))
		g.isConsent(b.signIn(b.get(authorizeURL(webRequest())), "ann", annsPassword))
	}
}

// Nor is it where the session had ended already, such as at another device, when its user signed out.
func TestSignInCannotBeRepeatedAfterSigningOutOfAnEndedSession(t *testing.T) {
	g := newBrowserRig(t)
	b, phone := g.browser(), g.browser()
	login := b.get(authorizeURL(webRequest()))
	g.isConsent(b.signIn(login, "ann", annsPassword))
	g.isConsent(phone.signIn(phone.get(authorizeURL(webRequest())), "ann", annsPassword))
	phone.submit(phone.get(tokenIssuer+"/account"), "all", "everything")
	if p := b.get(tokenIssuer + "/logout"); p.status != http.StatusOK {
		t.Fatal(p.status)
	}
	if p := b.signIn(login, "ann", annsPassword); p.status != http.StatusForbidden {
		t.Errorf("the form of the history: %d", p.status)
	}
	other := b.get(authorizeURL(webRequest()))
	b.get(tokenIssuer + "/logout") // without a session it changes nothing
	g.isConsent(b.signIn(other, "ann", annsPassword))
}

// The same holds for the buttons of the account page, which then shows a form to sign in with.
func TestSignInCannotBeRepeatedAfterAButtonOfAnEndedSession(t *testing.T) {
	g := newBrowserRig(t)
	b, phone := g.browser(), g.browser()
	login := b.get(authorizeURL(webRequest()))
	g.isConsent(b.signIn(login, "ann", annsPassword))
	account := b.get(tokenIssuer + "/account")
	g.isConsent(phone.signIn(phone.get(authorizeURL(webRequest())), "ann", annsPassword))
	phone.submit(phone.get(tokenIssuer+"/account"), "all", "everything")
	again := b.submit(account, "all", "everything")
	g.isLogin(again)
	if p := b.signIn(login, "ann", annsPassword); p.status != http.StatusForbidden {
		t.Errorf("the form of the history: %d", p.status)
	}
	if p := b.signIn(again, "ann", annsPassword); p.status != http.StatusSeeOther {
		t.Errorf("the form that was shown instead: %d", p.status)
	}
}
