package authserver_test

import (
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/gatehouse/gatehouse/module/directory"
	"github.com/gatehouse/gatehouse/module/directory/directorytest"
	"github.com/gatehouse/gatehouse/module/internal/authserver"
	"github.com/gatehouse/gatehouse/module/oauth"
	"github.com/gatehouse/gatehouse/module/store"
)

func TestConsentPageShowsClientAndScopes(t *testing.T) { // U22
	g := newBrowserRig(t, func(c *authserver.Config) {
		c.Scopes = []authserver.Scope{{Name: "read", Text: map[string]string{"en": "Read <b>all</b>", "zh": "阅读"}}}
	})
	g.clients.change("web", func(c *oauth.Client) { c.Name, c.Scopes = `<script>"Shop"`, []string{"read", "odd", "openid"} })
	b := g.browser()
	p := b.consentPage(webRequest().with("scope", "read odd openid"))
	for _, want := range []string{"&lt;script&gt;", "web.example", "Read &lt;b&gt;all&lt;/b&gt;", "odd", "Confirm who you are", "ann"} {
		if !strings.Contains(p.body, want) {
			t.Errorf("%q is not on the page: %s", want, p.body)
		}
	}
	if strings.Contains(p.body, "<b>all") {
		t.Error("a text is not escaped")
	}
	g.clients.change("web", func(c *oauth.Client) { c.Name = "" })
	zh := b.get(authorizeURL(webRequest().with("scope", "read odd openid").with("ui_locales", "zh")))
	if !strings.Contains(zh.body, "阅读") || !strings.Contains(zh.body, "确认您的身份") {
		t.Error(zh.body)
	}
	native := b.get(authorizeURL(appRequest().with("client_id", "native").with("redirect_uri", "com.example.app:/cb")))
	if !strings.Contains(native.body, "com.example.app:") {
		t.Error(native.body)
	}
}

func TestOnlyAPostedAllowGrants(t *testing.T) { // A33, U09
	g := newBrowserRig(t)
	b := g.browser()
	consent := b.consentPage(webRequest())
	before := g.store.Len()
	g.isError(b.get(tokenIssuer+"/consent?"+consent.form("decision", "allow").Encode()), http.StatusBadRequest)
	for _, decision := range []string{"", "ALLOW", "yes"} {
		g.isError(b.submit(consent, "decision", decision), http.StatusBadRequest)
	}
	denied := g.refused(b.submit(consent, "decision", "deny"), http.StatusSeeOther, "access_denied")
	if denied.Get("state") != "S" || g.store.Len() != before {
		t.Errorf("%v, %d records more", denied, g.store.Len()-before)
	}
	g.isConsent(b.get(authorizeURL(webRequest()))) // a denial is not remembered
}

func TestSecondConsentAnswerIssuesNoSecondCode(t *testing.T) { // A45
	g := newBrowserRig(t)
	b := g.browser()
	consent := b.consentPage(webRequest())
	code := g.issued(b.submit(consent, "decision", "allow"), http.StatusSeeOther)
	if again := g.issued(b.submit(consent, "decision", "allow"), http.StatusSeeOther); again != code {
		t.Fatal("a second code")
	}
	a := g.want(g.token(redeemWeb(code)), 200, "")
	g.isError(b.submit(consent, "decision", "allow"), http.StatusBadRequest)
	if !g.alive(a.tokens.Access) {
		t.Error("the second answer killed the tokens")
	}
	g.pass(2 * time.Minute)
	g.isError(b.submit(consent, "decision", "allow"), http.StatusBadRequest)
	g.pass(7*time.Minute + 59*time.Second)
	g.isError(b.submit(consent, "decision", "allow"), http.StatusBadRequest)
	g.want(g.token(redeemWeb(code)), 400, "invalid_grant")
}

func TestExpiredCodeIsNotRevived(t *testing.T) { // A45
	g := newBrowserRig(t)
	b := g.browser()
	consent := b.consentPage(webRequest())
	code := g.issued(b.submit(consent, "decision", "allow"), http.StatusSeeOther)
	for range 9 {
		g.pass(time.Minute)
		g.isError(b.submit(consent, "decision", "allow"), http.StatusBadRequest)
		g.want(g.token(redeemWeb(code)), 400, "invalid_grant")
	}
}

func TestParallelTabsGetOneCode(t *testing.T) {
	g := newBrowserRig(t)
	b := g.browser()
	consent := b.consentPage(webRequest())
	codes := make([]string, 16)
	var wg sync.WaitGroup
	for i := range codes {
		copied := &tab{g, map[string]string{}}
		for name, value := range b.cookies {
			copied.cookies[name] = value
		}
		wg.Go(func() {
			p := copied.submit(consent, "decision", "allow")
			_, rest, _ := strings.Cut(p.header.Get("Location"), "code=")
			codes[i], _, _ = strings.Cut(rest, "&")
		})
	}
	wg.Wait()
	for _, c := range codes {
		if c == "" || c != codes[0] {
			t.Fatalf("%q", codes)
		}
	}
}

func TestConsentIsRememberedForItsScopes(t *testing.T) {
	g := newBrowserRig(t)
	b := g.signedIn()
	g.issued(b.get(authorizeURL(webRequest())), http.StatusFound)
	wider := b.get(authorizeURL(webRequest().with("scope", "read write")))
	g.isConsent(wider)
	g.issued(b.submit(wider, "decision", "allow"), http.StatusSeeOther)
	for _, scope := range []string{"read", "write", "read write"} {
		g.issued(b.get(authorizeURL(webRequest().with("scope", scope))), http.StatusFound)
	}
	g.isConsent(b.get(authorizeURL(appRequest()))) // another client
	native := appRequest().with("client_id", "native").with("redirect_uri", "http://127.0.0.1:9/cb")
	for range 2 { // RFC 8252 section 8.6
		p := b.get(authorizeURL(native))
		g.isConsent(p)
		g.issued(b.submit(p, "decision", "allow"), http.StatusSeeOther)
	}
}

func TestLoopbackRedirectNeedsItsOwnConsent(t *testing.T) { // RFC 8252 section 8.6
	g := newBrowserRig(t)
	const loopback = "http://127.0.0.1/cb"
	g.clients.change("app", func(c *oauth.Client) { c.RedirectURIs = []string{appRedirect, loopback} })
	b := g.browser()
	g.issued(b.submit(b.consentPage(appRequest()), "decision", "allow"), http.StatusSeeOther)
	g.issued(b.get(authorizeURL(appRequest())), http.StatusFound)
	g.isConsent(b.get(authorizeURL(appRequest().with("redirect_uri", loopback))))
}

func TestCodeIsRememberedWhileItsFormCanBeResubmitted(t *testing.T) {
	g := newBrowserRig(t, func(c *authserver.Config) { c.Lifetimes.Request = 50 * time.Minute })
	b := g.browser()
	consent := b.consentPage(webRequest())
	g.issued(b.submit(consent, "decision", "allow"), http.StatusSeeOther)
	g.pass(49 * time.Minute)
	p := b.submit(consent, "decision", "allow")
	g.isError(p, http.StatusBadRequest)
	if !strings.Contains(p.body, "Already answered") {
		t.Error(p.body)
	}
}

func twoUsers(c *authserver.Config) {
	c.Directory = directorytest.NewMemory(
		directorytest.Seed{User: directory.User{ID: "u1", Username: "ann"}, Password: annsPassword},
		directorytest.Seed{User: directory.User{ID: "u2", Username: "bob"}, Password: "y"},
	)
}

func TestConsentAnswerCountsForItsViewerOnly(t *testing.T) {
	g := newBrowserRig(t, twoUsers)
	b := g.browser()
	consent := b.consentPage(webRequest())
	b.signIn(b.get(authorizeURL(webRequest().with("prompt", "login"))), "bob", "y")
	g.isError(b.submit(consent, "decision", "allow"), http.StatusForbidden)
	g.isConsent(b.get(authorizeURL(webRequest()))) // bob is asked himself
}

func TestConsentAfterSignOutAsksForSignIn(t *testing.T) {
	g := newBrowserRig(t)
	b := g.browser()
	consent := b.consentPage(webRequest())
	b.submit(b.get(tokenIssuer + "/logout"))
	login := b.submit(consent, "decision", "allow")
	g.isLogin(login)
	g.isConsent(b.signIn(login, "ann", annsPassword))
}

func TestAnotherBrowserCannotContinueAForm(t *testing.T) { // A41
	g := newBrowserRig(t, twoUsers)
	mallory, bob := g.browser(), g.browser()
	begun := mallory.get(authorizeURL(webRequest()))
	g.isError(bob.do("POST", tokenIssuer+"/login", begun.form("username", "bob", "password", "y").Encode()), http.StatusForbidden)
	consent := bob.signIn(bob.get(authorizeURL(webRequest())), "bob", "y")
	g.isConsent(consent)
	for _, b := range []*tab{mallory, g.browser()} {
		g.isError(b.submit(consent, "decision", "allow"), http.StatusForbidden)
		b.cookies[sessionCookie] = bob.cookies[sessionCookie] // even with the session
		g.isError(b.submit(consent, "decision", "allow"), http.StatusForbidden)
	}
}

func TestLockBetweenPagesTakesEffect(t *testing.T) { // A34, U19
	for name, lock := range map[string]func(*directorytest.Memory){
		"locked":  func(m *directorytest.Memory) { m.SetLocked("u1", true) },
		"deleted": func(m *directorytest.Memory) { m.Remove("u1") },
	} {
		g := newBrowserRig(t)
		b := g.browser()
		consent := b.consentPage(webRequest())
		lock(g.users)
		before := g.store.Len()
		g.refused(b.submit(consent, "decision", "allow"), http.StatusSeeOther, "access_denied")
		if g.store.Len() != before {
			t.Errorf("%s: something was stored", name)
		}
	}
	g := newBrowserRig(t)
	b := g.signedIn()
	g.users.SetLocked("u1", true)
	g.refused(b.get(authorizeURL(webRequest())), http.StatusFound, "access_denied")
	g.users.Remove("u1")
	g.isLogin(b.get(authorizeURL(webRequest())))
}

func TestReloadBetweenPagesTakesEffect(t *testing.T) {
	for name, c := range map[string]struct {
		change func(*rigClients)
		status int
		code   string
	}{
		"client removed": {func(c *rigClients) { c.remove("web") }, 400, ""},
		"address removed": {func(c *rigClients) {
			c.change("web", func(c *oauth.Client) { c.RedirectURIs = []string{"https://new.example/cb"} })
		}, 400, ""},
		"grant taken away": {func(c *rigClients) { c.change("web", func(c *oauth.Client) { c.Grants = nil }) }, 303, "unauthorized_client"},
		"scope taken away": {func(c *rigClients) {
			c.change("web", func(c *oauth.Client) { c.Scopes, c.DefaultScopes = []string{"write"}, []string{"write"} })
		}, 303, "invalid_scope"},
	} {
		t.Run(name, func(t *testing.T) {
			for _, atLogin := range []bool{true, false} {
				g := newBrowserRig(t)
				b := g.browser()
				login := b.get(authorizeURL(webRequest()))
				var p page
				if atLogin {
					c.change(g.clients)
					p = b.signIn(login, "ann", annsPassword)
				} else {
					consent := b.signIn(login, "ann", annsPassword)
					c.change(g.clients)
					p = b.submit(consent, "decision", "allow")
				}
				if c.status == 400 {
					g.isError(p, 400)
				} else {
					g.refused(p, c.status, c.code)
				}
			}
		})
	}
}

func TestCodeRecordsWhatWasRequested(t *testing.T) {
	g := newBrowserRig(t)
	b := g.browser()
	p := b.submit(b.consentPage(appRequest().with("nonce", "n1").with("scope", "write read")), "decision", "allow")
	code := g.issued(p, http.StatusSeeOther)
	rec, err := g.store.Get(t.Context(), store.Key{Kind: store.KindCode, ID: digest(code)})
	g.must(err)
	var v store.Code
	g.must(store.Decode(rec.Value, &v))
	if v.State != store.CodeIssued || v.Dialect != store.DialectOAuth || v.Client != "app" || v.Subject != "u1" || v.Nonce != "n1" ||
		oauth.JoinScopes(v.Scopes) != "write read" || v.RedirectURI != appRedirect || v.Challenge != oauth.Challenge(verifier) ||
		!v.AuthTime.Equal(g.now()) || !v.Expires.Equal(g.now().Add(time.Minute)) || v.Session != digest(b.cookies[sessionCookie]) || len(v.Grant) != 22 {
		t.Errorf("%+v", v)
	}
}

func TestConsentForAnEarlierClientOfTheSameIDIsIgnored(t *testing.T) {
	g := newBrowserRig(t)
	b := g.signedIn()
	g.issued(b.get(authorizeURL(webRequest())), http.StatusFound)
	g.pass(time.Minute)
	g.clients.change("web", func(c *oauth.Client) { c.Since = g.now() })
	consent := b.get(authorizeURL(webRequest()))
	g.isConsent(consent)
	g.pass(time.Second)
	g.issued(b.submit(consent, "decision", "allow"), http.StatusSeeOther)
	g.issued(b.get(authorizeURL(webRequest())), http.StatusFound)
}

func TestSelfRegisteredClientIsMarkedOnThePages(t *testing.T) {
	g := newEndRig(t)
	const mark = "Nobody has checked its name"
	if p := g.browser().get(authorizeURL(webRequest())); strings.Contains(p.body, mark) {
		t.Error("an operator's client is marked")
	}
	g.clients.change("web", func(c *oauth.Client) { selfRegistered(c) })
	b := g.browser()
	login := b.get(authorizeURL(webRequest()))
	g.isLogin(login)
	for _, p := range []page{login, b.signIn(login, "ann", "wrong")} { // where a user types a password for "Your bank"
		if !strings.Contains(p.body, mark) {
			t.Errorf("the sign-in page: %s", p.body)
		}
	}
	if p := g.browser().consentPage(webRequest()); !strings.Contains(p.body, mark) || !strings.Contains(p.body, `href="/auth/account"`) {
		t.Error(p.body)
	}
}
