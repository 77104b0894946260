package authserver_test

import (
	"net/http"
	"strings"
	"testing"
	"time"
)

func TestIDTokenHintNamesTheExpectedUser(t *testing.T) { // A32
	g := newOpenIDRig(t)
	ann, bob := g.signedInAs("ann", "x"), g.signedInAs("bob", "y")
	hint := g.tokensOf(ann, rpRequest()).id
	p := rpRequest().with("id_token_hint", hint)
	silent := p.with("prompt", "none")

	g.issued(ann.get(authorizeURL(p)), http.StatusFound)
	g.issued(ann.get(authorizeURL(silent)), http.StatusFound)
	g.refused(bob.get(authorizeURL(silent)), http.StatusFound, "login_required")
	login := bob.get(authorizeURL(p))
	g.isLogin(login)
	g.refused(g.browser().get(authorizeURL(silent)), http.StatusFound, "login_required")

	// Whoever signs in instead is not answered for, and ann is.
	g.refused(bob.signIn(login, "bob", "y"), http.StatusSeeOther, "login_required")
	g.refused(bob.get(authorizeURL(silent)), http.StatusFound, "login_required")
	g.issued(bob.signIn(bob.get(authorizeURL(p)), "ann", "x"), http.StatusSeeOther)
}

func TestIDTokenHintMayBeExpiredButNotForeign(t *testing.T) { // A32
	g := newOpenIDRig(t)
	b := g.signedInAs("ann", "x")
	a := g.tokensOf(b, rpRequest())
	for name, hint := range map[string]string{
		"tampered":       a.id[:len(a.id)-4] + "AAAA",
		"nonsense":       "x",
		"no signature":   "eyJhbGciOiJub25lIn0.eyJzdWIiOiJ1MSJ9.",
		"access token":   a.tokens.Access,
		"another client": g.tokensOf(b, rpRequest().with("client_id", "rq")).id,
	} {
		for _, prompt := range []string{"", "none"} {
			q := g.refused(b.get(authorizeURL(rpRequest().with("id_token_hint", hint).with("prompt", prompt))), http.StatusFound, "invalid_request")
			if q.Get("state") != "S" {
				t.Errorf("%s: %v", name, q)
			}
		}
	}
	g.pass(20 * time.Hour) // the id_token and the session are long over
	b = g.signedInAs("ann", "x")
	g.issued(b.get(authorizeURL(rpRequest().with("id_token_hint", a.id))), http.StatusFound)
	g.refused(g.signedInAs("bob", "y").get(authorizeURL(rpRequest().with("id_token_hint", a.id).with("prompt", "none"))), http.StatusFound, "login_required")
}

func TestIDTokenHintHoldsOnTheConsentPage(t *testing.T) { // A32
	g := newOpenIDRig(t)
	rp := g.clients.all["rp"]
	ann := g.signedInAs("ann", "x")
	hint := g.tokensOf(ann, rpRequest()).id
	rp.Trusted = false
	consent := ann.get(authorizeURL(rpRequest().with("id_token_hint", hint)))
	g.isConsent(consent)
	// In another tab bob signs in.
	rp.Trusted = true
	g.issued(ann.signIn(ann.get(authorizeURL(rpRequest().with("prompt", "login"))), "bob", "y"), http.StatusSeeOther)
	rp.Trusted = false
	g.isLogin(ann.submit(consent, "decision", "allow"))
}

func TestExpiredRequestIsNotRestartedWithoutItsHint(t *testing.T) {
	g := newOpenIDRig(t)
	b := g.signedInAs("ann", "x")
	hint := g.tokensOf(b, rpRequest()).id
	with := b.get(authorizeURL(rpRequest().with("id_token_hint", hint).with("prompt", "login")))
	without := b.get(authorizeURL(rpRequest().with("prompt", "login").with("resource", "https://api.example")))
	g.pass(11 * time.Minute)
	if p := b.signIn(with, "ann", "x"); p.status != http.StatusBadRequest || strings.Contains(p.body, `href="/auth/authorize?`) {
		t.Errorf("%d %s", p.status, p.body)
	}
	if p := b.signIn(without, "ann", "x"); p.status != http.StatusBadRequest || !strings.Contains(p.body, `href="/auth/authorize?`) {
		t.Errorf("%d %s", p.status, p.body)
	}
}

func TestUnreadableIDTokenHintIsAnError(t *testing.T) {
	g := newOpenIDRig(t)
	b := g.signedInAs("ann", "x")
	hint := g.tokensOf(b, rpRequest()).id
	g.tokens.fault = errLost
	g.isError(b.get(authorizeURL(rpRequest().with("id_token_hint", hint))), http.StatusServiceUnavailable)
	g.isError(b.get(tokenIssuer+"/logout?id_token_hint="+hint), http.StatusServiceUnavailable)
	g.tokens.fault = nil
	g.issued(b.get(authorizeURL(rpRequest())), http.StatusFound) // still signed in
}
