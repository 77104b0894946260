package authserver_test

import (
	"fmt"
	"html"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/gatehouse/gatehouse/module/internal/audit"
	"github.com/gatehouse/gatehouse/module/internal/authserver"
	"github.com/gatehouse/gatehouse/module/store"
)

const accountURL = tokenIssuer + "/account"

var buttonTag = regexp.MustCompile(`<button [^>]*name="([^"]*)" value="([^"]*)"`)

// buttons are the values of the page's buttons of this name, in order.
func (p page) buttons(name string) []string {
	var values []string
	for _, m := range buttonTag.FindAllStringSubmatch(p.body, -1) {
		if m[1] == name {
			values = append(values, html.UnescapeString(m[2]))
		}
	}
	return values
}

func (g *endRig) isAccount(p page) page {
	g.t.Helper()
	if p.status != http.StatusOK || !strings.Contains(p.body, `value="everything"`) {
		g.t.Fatalf("no account page: %d %s", p.status, p.body)
	}
	g.isPage(p)
	return p
}

func (g *endRig) account(b *tab) page {
	g.t.Helper()
	return g.isAccount(b.get(accountURL))
}

func (g *endRig) isSignedOutPage(p page) {
	g.t.Helper()
	cleared := slices.ContainsFunc(p.set, func(c *http.Cookie) bool { return c.Name == sessionCookie && c.MaxAge < 0 })
	if p.status != http.StatusOK || strings.Contains(p.body, "<form method") || !cleared {
		g.t.Fatalf("not signed out: %d %v %s", p.status, p.set, p.body)
	}
	g.isPage(p)
}

func TestAccountPageNeedsASignIn(t *testing.T) {
	g := newEndRig(t)
	b := g.browser()
	login := b.get(accountURL)
	g.isLogin(login)
	failed := b.signIn(login, "ann", "wrong")
	if failed.status != http.StatusUnauthorized {
		t.Fatal(failed.status)
	}
	p := b.signIn(failed, "ann", annsPassword)
	if p.status != http.StatusSeeOther || p.header.Get("Location") != "/auth/account" {
		t.Fatalf("%d %v", p.status, p.header)
	}
	page := g.account(b)
	for _, want := range []string{"ann", "No application has access", "Unknown browser", "this browser", `href="/auth/logout"`} {
		if !strings.Contains(page.body, want) {
			t.Errorf("%q is not shown", want)
		}
	}
	if len(page.buttons("withdraw")) != 0 || len(page.buttons("end")) != 1 {
		t.Error("the wrong buttons")
	}
	g.users = nil
}

func TestAccountPageListsEveryConsentAndGrant(t *testing.T) {
	g := newEndRig(t)
	g.clients.change("app", selfRegistered)
	b, _ := g.tokens("ann", annsPassword)
	g.issued(b.submit(b.get(authorizeURL(appRequest())), "decision", "allow"), http.StatusSeeOther) // a consent without a grant
	native := appRequest().with("client_id", "native").with("redirect_uri", "http://127.0.0.1/cb")
	code := g.issued(b.submit(b.get(authorizeURL(native)), "decision", "allow"), http.StatusSeeOther)
	redeem := redeemApp(code).with("client_id", "native").with("redirect_uri", "http://127.0.0.1/cb")
	g.want(g.token(redeem), 200, "") // a grant without a consent
	_, bobs := g.tokens("bob", "y")

	p := g.account(b)
	for _, want := range []string{"<bdi>web</bdi>", "<bdi>Your bank</bdi>", "Nobody has checked its name", "<bdi>native</bdi>", "It asks for your permission at each sign-in",
		"<bdi>Read</bdi>", `Since <time datetime="2030-03-17`} {
		if !strings.Contains(p.body, want) {
			t.Errorf("%q is not shown in %s", want, p.body)
		}
	}
	if n := len(p.buttons("withdraw")); n != 3 {
		t.Errorf("%d applications", n)
	}
	if strings.Count(p.body, "Nobody has checked its name") != 1 || strings.Count(p.body, "It asks for your permission at each sign-in") != 1 {
		t.Error("marks on the wrong applications")
	}
	// Every one can be taken back, also that without a consent.
	for range 3 {
		p = g.isAccount(b.submit(p, "withdraw", p.buttons("withdraw")[0]))
		if !strings.Contains(p.body, `role="status"`) {
			t.Error("nothing says that it is done")
		}
	}
	if len(p.buttons("withdraw")) != 0 || !strings.Contains(p.body, "No application has access") {
		t.Error("an application is left")
	}
	g.eachGrantOf("u1", func(v store.Grant) {
		if !g.dead(v) {
			t.Errorf("a grant of %s lives", v.Client)
		}
	})
	g.lives(bobs)
	if all := g.trail.of(audit.ConsentRevoked); len(all) != 3 || all[0].Subject != "u1" || all[0].Client == "" {
		t.Errorf("events %v", all)
	}
}

func TestRevokingConsentEndsAccessAndAsksAgain(t *testing.T) { // F10, C12
	g := newEndRig(t)
	b, a := g.tokens("ann", annsPassword)
	pending := g.issued(b.get(authorizeURL(webRequest())), http.StatusFound)
	p := g.account(b)
	b.submit(p, "withdraw", p.buttons("withdraw")[0])
	g.isDead(a)
	g.want(g.token(redeemWeb(pending)), 400, "invalid_grant")
	g.isConsent(b.get(authorizeURL(webRequest())))
	// The same press again, from a page that was open for long, is no fault.
	g.isAccount(b.submit(p, "withdraw", p.buttons("withdraw")[0]))
}

// A form that was made before the user took the permission back does not bring it back.
func TestConsentFormFromBeforeRevocationAsksAgain(t *testing.T) { // N02
	for _, sent := range []bool{false, true} {
		g := newEndRig(t)
		b := g.browser()
		old := b.consentPage(webRequest())
		if sent {
			g.issued(b.submit(old, "decision", "allow"), http.StatusSeeOther)
		}
		g.must(g.server.EndClient(t.Context(), "u1", "web"))
		p := b.submit(old, "decision", "allow")
		g.isConsent(p)
		if n := g.count(store.KindConsent, "u1"); n != 0 {
			t.Errorf("sent before: %v: the consent is back", sent)
		}
		g.isConsent(b.get(authorizeURL(webRequest())))
		if !sent { // the page that was shown instead is as good as any
			g.issued(b.submit(p, "decision", "allow"), http.StatusSeeOther)
			g.issued(b.get(authorizeURL(webRequest())), http.StatusFound)
		}
	}
}

func TestEndedAndExpiredGrantsAreNotListed(t *testing.T) {
	g := newEndRig(t, func(c *authserver.Config) {
		c.Lifetimes.Session, c.Lifetimes.SessionIdle = 90*24*time.Hour, 90*24*time.Hour
	})
	b, _ := g.tokens("ann", annsPassword)
	g.must(g.store.Delete(t.Context(), onlyKey(g, store.KindConsent)))
	if n := len(g.account(b).buttons("withdraw")); n != 1 {
		t.Errorf("%d applications", n)
	}
	g.pass(14 * 24 * time.Hour) // idle for too long
	if n := len(g.account(b).buttons("withdraw")); n != 0 {
		t.Errorf("%d applications", n)
	}
}

func onlyKey(g *endRig, kind store.Kind) store.Key {
	g.t.Helper()
	all, err := g.store.List(g.t.Context(), kind, "u1", "", 10)
	g.must(err)
	if len(all) != 1 {
		g.t.Fatalf("%d records", len(all))
	}
	return all[0].Key
}

func TestSessionsAreListedAndEndedIndividually(t *testing.T) {
	g := newEndRig(t)
	agent := func(b *tab, ua string) {
		if p := b.do("POST", tokenIssuer+"/login", b.get(tokenIssuer+"/login").form("username", "ann", "password", annsPassword).Encode(), "User-Agent", ua); p.status != http.StatusSeeOther {
			t.Fatal(p.status)
		}
		g.pass(time.Minute)
	}
	here, phone, other := g.browser(), g.browser(), g.browser()
	agent(here, "Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0")
	agent(phone, "Mozilla/5.0 (iPhone; CPU iPhone OS 18_5 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/18.5 Mobile/15E148 Safari/604.1")
	agent(other, "<script>alert(1)</script>")
	p := g.account(here)
	for _, want := range []string{"Firefox on Linux", "Safari on iOS", "Unknown browser", "Last used just now.", "Last used 2 min ago."} {
		if !strings.Contains(p.body, want) {
			t.Errorf("%q is not shown in %s", want, p.body)
		}
	}
	if strings.Count(p.body, `class="tag"`) != 1 || strings.Index(p.body, `class="tag"`) > strings.Index(p.body, "Safari on iOS") {
		t.Error("this browser is not the one marked, in front")
	}
	ends := p.buttons("end")
	if len(ends) != 3 {
		t.Fatalf("%d sessions", len(ends))
	}
	p = g.isAccount(here.submit(p, "end", ends[2]))
	g.isLogin(phone.get(accountURL))
	g.account(other)
	g.isAccount(here.submit(p, "end", ends[2])) // gone already
	// This one.
	g.isSignedOutPage(here.submit(p, "end", p.buttons("end")[0]))
	g.isLogin(here.get(accountURL))
	g.account(other)
	if all := g.trail.of(audit.SignOut); len(all) != 2 || all[0].Subject != "u1" {
		t.Errorf("events %v", all)
	}
}

func TestSignOutOfOtherBrowsersKeepsThisOneAndGrants(t *testing.T) {
	g := newEndRig(t)
	here, a := g.tokens("ann", annsPassword)
	other, _ := g.tokens("ann", annsPassword)
	bob, _ := g.tokens("bob", "y")
	g.isAccount(here.submit(g.account(here), "all", "others"))
	if all := g.trail.of(audit.SignOut); len(all) != 1 || all[0].Subject != "u1" {
		t.Errorf("events %v", all)
	}
	g.isLogin(other.get(accountURL))
	g.account(here)
	g.account(bob)
	g.lives(a)
}

func TestSignOutEverywhereEndsAll(t *testing.T) { // F10
	g := newEndRig(t)
	here, a := g.tokens("ann", annsPassword)
	other, second := g.tokens("ann", annsPassword)
	bob, bobs := g.tokens("bob", "y")
	out := here.submit(g.account(here), "all", "everything")
	g.isSignedOutPage(out)
	if !strings.Contains(out.body, "in every browser") {
		t.Error("nothing says how far it went")
	}
	g.isLogin(here.get(accountURL))
	g.isLogin(other.get(accountURL))
	g.isDead(a)
	g.isDead(second)
	g.account(bob)
	g.lives(bobs)
}

// Whoever is signed in at the same browser later, or at another, can do nothing with
// what the page of another user names.
func TestUsersCannotEndWhatIsNotTheirs(t *testing.T) { // U27
	g := newEndRig(t)
	ann, a := g.tokens("ann", annsPassword)
	annElsewhere, _ := g.tokens("ann", annsPassword)
	anns := g.account(ann)
	sameBrowser := &tab{g.tokenRig, map[string]string{browserCookie: ann.browserID()}}
	bobElsewhere := g.browser()
	for name, bob := range map[string]*tab{"the same browser": sameBrowser, "another": bobElsewhere} {
		bob.signIn(bob.get(accountURL), "bob", "y")
		bobs := g.account(bob)
		foreign := append(append(anns.buttons("end"), anns.buttons("withdraw")...), "web", onlySession(g, "u1"), "", "x")
		for _, field := range []string{"end", "withdraw"} {
			for _, id := range append(foreign, bobs.buttons("end")...) {
				if field == "end" && slices.Contains(bobs.buttons("end"), id) {
					continue // his own
				}
				p := bob.submit(bobs, field, id)
				if id == "" {
					g.isError(p, http.StatusBadRequest)
					continue
				}
				g.isError(p, http.StatusNotFound)
			}
		}
		// Nor with the form of her page.
		g.isError(bob.submit(anns, "all", "everything"), http.StatusForbidden)
		if t.Failed() {
			t.Fatal("at ", name)
		}
	}
	g.account(ann)
	g.account(annElsewhere)
	g.lives(a)
	g.issued(ann.get(authorizeURL(webRequest())), http.StatusFound) // her consent stands
}

func onlySession(g *endRig, subject string) string {
	all, err := g.store.List(g.t.Context(), store.KindSession, subject, "", 10)
	g.must(err)
	return all[0].ID
}

func TestAccountFormFromAnotherSiteIsRefused(t *testing.T) { // U07
	g := newEndRig(t)
	b, a := g.tokens("ann", annsPassword)
	p := g.account(b)
	end, all := p.buttons("end")[0], "everything"
	for name, post := range map[string]func() page{
		"no token":              func() page { return b.do("POST", accountURL, url.Values{"all": {all}}.Encode()) },
		"a wrong token":         func() page { return b.submit(p, "all", all, "token", strings.Repeat("A", 43)) },
		"the token of a logout": func() page { return b.submit(p, "end", end, "token", b.get(tokenIssuer+"/logout").form().Get("token")) },
		"another site": func() page {
			return b.do("POST", accountURL, p.form("all", all).Encode(), "Sec-Fetch-Site", "cross-site")
		},
		"another origin": func() page {
			return b.do("POST", accountURL, p.form("all", all).Encode(), "Origin", "https://web.example")
		},
		"a sandbox": func() page { return b.do("POST", accountURL, p.form("all", all).Encode(), "Origin", "null") },
		"another browser": func() page {
			return (&tab{g.tokenRig, map[string]string{sessionCookie: b.cookies[sessionCookie]}}).submit(p, "all", all)
		},
		"a browser of their own": func() page {
			o := g.browser()
			o.get(accountURL)
			o.cookies[sessionCookie] = b.cookies[sessionCookie]
			return o.submit(p, "all", all)
		},
	} {
		if got := post(); got.status != http.StatusForbidden {
			t.Errorf("%s: %d", name, got.status)
		} else {
			g.isError(got, http.StatusForbidden)
		}
	}
	for _, query := range []string{"?all=everything&token=" + url.QueryEscape(p.form().Get("token")), "?end=" + url.QueryEscape(end), "?withdraw=" + p.buttons("withdraw")[0]} {
		g.isAccount(b.get(accountURL + query)) // a GET changes nothing
	}
	g.account(b)
	g.lives(a)
	// Nothing pressed, two buttons at once.
	g.isError(b.submit(p), http.StatusBadRequest)
	g.isError(b.submit(p, "all", "nothing"), http.StatusBadRequest)
	if got := b.do("POST", accountURL, p.form("all", all).Encode()+"&all=others"); got.status != http.StatusBadRequest {
		t.Errorf("a repeated field: %d", got.status)
	}
	// Without a session there is a login page, and nothing is done.
	stranger := &tab{g.tokenRig, map[string]string{browserCookie: b.browserID()}}
	g.isLogin(stranger.submit(p, "all", all))
	g.account(b)
}

func TestLockedUserHasNoAccountPage(t *testing.T) { // U19
	g := newEndRig(t)
	b, _ := g.tokens("ann", annsPassword)
	p := g.account(b)
	locker, _ := directoryOf(g).(interface{ SetLocked(string, bool) })
	locker.SetLocked("u1", true)
	g.isLogin(b.get(accountURL))
	g.isLogin(b.submit(p, "withdraw", p.buttons("withdraw")[0]))
	g.isLogin(b.get(tokenIssuer + "/account"))
	if g.count(store.KindConsent, "u1") != 1 {
		t.Error("a locked user changed something")
	}
}

func directoryOf(g *endRig) any { return g.server.Directory }

func TestAccountPageShowsAtMostAHundredApplications(t *testing.T) {
	g := newEndRig(t)
	b, _ := g.tokens("ann", annsPassword)
	shown := func(more bool) {
		t.Helper()
		p := g.account(b)
		if n := len(p.buttons("withdraw")); n != 100 || strings.Contains(p.body, "more than are shown") != more {
			t.Errorf("%d applications; says that there are more: %v", n, !more)
		}
	}
	for i := range 100 {
		v := store.Consent{Client: fmt.Sprintf("gone-%d", i), Subject: "u1", Scopes: []string{"read"}, GivenAt: g.now()}
		_, err := g.store.Create(t.Context(), store.Record{Key: store.Key{Kind: store.KindConsent, ID: fmt.Sprint("c", i)}, Parent: "u1", Value: must(store.Encode(&v))})
		g.must(err)
		if i == 98 {
			shown(false)
		}
	}
	shown(true)
	g.putGrants(2100, g.now())
	g.account(b) // reads some, and says so
}
