package authserver_test

import (
	"net/http"
	"testing"
)

// Who goes back in the history of a browser where somebody signed out, and sends the form with the password again, is
// not signed in.
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
