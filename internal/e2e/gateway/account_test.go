package gateway

import (
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/gatehouse/gatehouse/internal/testkit/harness"
)

// press posts the account page's form as its button does.
func press(b *harness.Browser, p harness.Page, name, value string) harness.Page {
	return b.Submit(p, url.Values{name: {value}})
}

// accountOf is the account page of a user in a browser, after signing in if need be.
func accountOf(t *testing.T, g *harness.Gateway, b *harness.Browser, user string) harness.Page {
	t.Helper()
	p := b.Get(g.ID + "/account")
	if strings.Contains(p.Body, `name="password"`) {
		if p = b.Submit(p, url.Values{"username": {user}, "password": {password}}); p.Status != http.StatusSeeOther || p.Header.Get("Location") != "/account" {
			t.Fatalf("%d to %q", p.Status, p.Header.Get("Location"))
		}
		p = b.Get(g.ID + "/account")
	}
	wantPage(t, p, http.StatusOK)
	if len(harness.Buttons(t, p, "all")) == 0 {
		t.Fatalf("no account page: %s", p.Body)
	}
	return p
}

// wantSignedOut says that a browser has to sign in for its account page.
func wantSignedOut(t *testing.T, g *harness.Gateway, b *harness.Browser) {
	t.Helper()
	if p := b.Get(g.ID + "/account"); !strings.Contains(p.Body, `name="password"`) {
		t.Errorf("still signed in: %d %.300s", p.Status, p.Body)
	}
}

// allowed signs a user in at a client in a browser of its own and redeems the code.
func allowed(t *testing.T, g *harness.Gateway, c harness.Credentials, user string) (b *harness.Browser, access, refresh string) {
	t.Helper()
	b = harness.NewBrowser(t, g.ID)
	back := b.Authorize(authorizeURL(g, c.ID), user, password)
	redirect := map[string]string{"spa": spaCallback, "other": otherCallback, "web": callback}[c.ID]
	access, refresh = wantTokens(t, g.Token(t, c, exchange(back.Query().Get("code"), redirect)))
	return b, access, refresh
}

func TestRevokedConsentEndsItsGrants(t *testing.T) { // C12, F10
	g, _ := start(t)
	b, access, refresh := allowed(t, g, web, username)
	_, spaAccess, spaRefresh := allowed(t, g, spa, username)
	pending := b.Authorize(authorizeURL(g, "web"), username, password).Query().Get("code")
	p := accountOf(t, g, b, username)
	for _, want := range []string{"Web Client", "Read", ">spa<"} {
		if !strings.Contains(p.Body, want) {
			t.Errorf("%q is not shown", want)
		}
	}
	at := harness.Buttons(t, p, "withdraw")
	if len(at) != 2 {
		t.Fatalf("%d applications", len(at))
	}
	// The newest is the first.
	p = press(b, p, "withdraw", at[1])
	wantPage(t, p, http.StatusOK)
	wantOAuth(t, g.Token(t, web, refreshWith(refresh)), http.StatusBadRequest, "invalid_grant")
	wantOAuth(t, g.Token(t, web, exchange(pending, callback)), http.StatusBadRequest, "invalid_grant")
	wantDead(t, g, access)
	if p := b.Get(authorizeURL(g, "web")); !strings.Contains(p.Body, `value="allow"`) {
		t.Errorf("not asked again: %d %.300s", p.Status, p.Body)
	}
	if p := bearer(t, g, "/read", spaAccess); p.Status != http.StatusOK {
		t.Errorf("another application: %d", p.Status)
	}
	wantTokens(t, g.Token(t, spa, refreshWith(spaRefresh)))
}

func TestSignOutEverywhere(t *testing.T) { // F10
	g, _ := start(t)
	one, access, refresh := allowed(t, g, web, username)
	two, access2, refresh2 := allowed(t, g, other, username)
	bob, bobs, bobsRefresh := allowed(t, g, web, "bob")
	pending := two.Authorize(authorizeURL(g, "web"), username, password).Query().Get("code")
	began := time.Now()
	p := press(one, accountOf(t, g, one, username), "all", "everything")
	if wantPage(t, p, http.StatusOK); strings.Contains(p.Body, "<form method") || time.Since(began) > 2*time.Second {
		t.Errorf("after %v: %s", time.Since(began), p.Body)
	}
	// At once again: what it is given lives.
	_, fresh, freshRefresh := allowed(t, g, web, username)
	if p := bearer(t, g, "/read", fresh); p.Status != http.StatusOK {
		t.Errorf("a new access token: %d", p.Status)
	}
	wantTokens(t, g.Token(t, web, refreshWith(freshRefresh)))

	wantSignedOut(t, g, one)
	wantSignedOut(t, g, two)
	wantOAuth(t, g.Token(t, web, refreshWith(refresh)), http.StatusBadRequest, "invalid_grant")
	wantOAuth(t, g.Token(t, other, refreshWith(refresh2)), http.StatusBadRequest, "invalid_grant")
	wantOAuth(t, g.Token(t, web, exchange(pending, callback)), http.StatusBadRequest, "invalid_grant")
	wantDead(t, g, access)
	wantDead(t, g, access2)
	accountOf(t, g, bob, "bob")
	if p := bearer(t, g, "/read", bobs); p.Status != http.StatusOK {
		t.Errorf("bob: %d", p.Status)
	}
	wantTokens(t, g.Token(t, web, refreshWith(bobsRefresh)))
}

func TestSessionsEndIndividuallyOrAllOthersAtOnce(t *testing.T) {
	g, _ := start(t)
	tabs := make([]*harness.Browser, 4)
	for i := range tabs {
		tabs[i] = harness.NewBrowser(t, g.ID)
		accountOf(t, g, tabs[i], username)
	}
	here := tabs[0]
	p := accountOf(t, g, here, username)
	ends := harness.Buttons(t, p, "end")
	if len(ends) != 4 {
		t.Fatalf("%d sessions", len(ends))
	}
	wantPage(t, press(here, p, "end", ends[1]), http.StatusOK)
	out := 0
	for _, b := range tabs[1:] {
		if strings.Contains(b.Get(g.ID+"/account").Body, `name="password"`) {
			out++
		}
	}
	if out != 1 {
		t.Errorf("%d browsers are signed out", out)
	}
	wantPage(t, press(here, p, "all", "others"), http.StatusOK)
	for _, b := range tabs[1:] {
		wantSignedOut(t, g, b)
	}
	if p = accountOf(t, g, here, username); len(harness.Buttons(t, p, "end")) != 1 {
		t.Error("sessions are left")
	}
	cookie := session(t, g, here)
	p = press(here, p, "end", harness.Buttons(t, p, "end")[0])
	if wantPage(t, p, http.StatusOK); strings.Contains(p.Body, "<form method") || session(t, g, here) != "" {
		t.Error("this browser is not signed out")
	}
	// The cookie is worth nothing to who copied it.
	copied := send(t, harness.NewBrowser(t, g.ID), http.MethodGet, g.ID+"/account", "", "Cookie", "gatehouse="+cookie)
	if !strings.Contains(copied.Body, `name="password"`) {
		t.Error("a copied cookie still signs in")
	}
}

func TestAnotherUsersAccountIsInaccessible(t *testing.T) { // U27
	g, _ := start(t)
	alice, access, _ := allowed(t, g, web, username)
	bob := harness.NewBrowser(t, g.ID)
	bobs := accountOf(t, g, bob, "bob")
	alices := accountOf(t, g, alice, username)
	for _, name := range []string{"end", "withdraw"} {
		for _, id := range []string{harness.Buttons(t, alices, "end")[0], harness.Buttons(t, alices, "withdraw")[0], "web", "../web", "u-1", "AAAA"} {
			wantPage(t, press(bob, bobs, name, id), http.StatusNotFound)
		}
	}
	if strings.Contains(bobs.Body, "Web Client") || strings.Contains(bobs.Body, "alice") {
		t.Error("bob sees what is hers")
	}
	if p := accountOf(t, g, alice, username); len(harness.Buttons(t, p, "withdraw")) != 1 || len(harness.Buttons(t, p, "end")) != 1 {
		t.Error("something of hers has ended")
	}
	if p := bearer(t, g, "/read", access); p.Status != http.StatusOK {
		t.Errorf("%d", p.Status)
	}
}

func TestCrossSiteAccountFormIsRefused(t *testing.T) { // U07
	g, _ := start(t)
	b, access, _ := allowed(t, g, web, username)
	p := accountOf(t, g, b, username)
	action, fields := harness.Form(t, p)
	fields.Set("all", "everything")
	for name, header := range foreign(g) {
		got := send(t, b, http.MethodPost, action, fields.Encode(), append([]string{"Content-Type", "application/x-www-form-urlencoded"}, header...)...)
		if got.Status != http.StatusForbidden {
			t.Errorf("%s: %d", name, got.Status)
		}
	}
	for _, token := range []string{"-", strings.Repeat("A", 43), ""} { // none, another, an empty one
		wantPage(t, b.Post(action, with(fields, "token", token)), http.StatusForbidden)
	}
	// A stranger's form with her session, as who can set a cookie would do it.
	stranger := harness.NewBrowser(t, g.ID)
	strange := accountOf(t, g, stranger, "bob")
	_, theirs := harness.Form(t, strange)
	wantPage(t, b.Post(action, with(theirs, "all", "everything")), http.StatusForbidden)
	wantPage(t, b.Get(g.ID+"/account?"+fields.Encode()), http.StatusOK)
	for _, method := range []string{http.MethodPut, http.MethodDelete, http.MethodPatch} {
		if got := send(t, b, method, action, ""); got.Status != http.StatusMethodNotAllowed {
			t.Errorf("%s: %d", method, got.Status)
		}
	}
	accountOf(t, g, b, username)
	if p := bearer(t, g, "/read", access); p.Status != http.StatusOK {
		t.Errorf("%d", p.Status)
	}
}

func TestUserAgentIsEscapedOnTheAccountPage(t *testing.T) { // U11
	g, _ := start(t)
	b := harness.NewBrowser(t, g.ID)
	action, fields := harness.Form(t, b.Get(g.ID+"/account"))
	fields.Set("username", username)
	fields.Set("password", password)
	p := send(t, b, http.MethodPost, action, fields.Encode(), "Content-Type", "application/x-www-form-urlencoded", "Origin", g.ID,
		"User-Agent", `Firefox/1 <script>alert(1)</script> Linux`)
	if p.Status != http.StatusSeeOther {
		t.Fatalf("%d", p.Status)
	}
	if p := accountOf(t, g, b, username); !strings.Contains(p.Body, "Firefox on Linux") || strings.Contains(p.Body, "alert(1)") {
		t.Error(p.Body)
	}
}
