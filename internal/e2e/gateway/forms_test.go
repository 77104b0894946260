package gateway

import (
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/gatehouse/gatehouse/internal/testkit/harness"
)

// session is the session cookie of a browser, "" for none.
func session(t *testing.T, g *harness.Gateway, b *harness.Browser) string {
	t.Helper()
	u, err := url.Parse(g.ID)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range b.Client.Jar.Cookies(u) {
		if c.Name == "gatehouse" {
			return c.Value
		}
	}
	return ""
}

// foreign are header fields that a browser sends when the page of another site made it
// post.
func foreign(g *harness.Gateway) map[string][]string {
	return map[string][]string{
		"Sec-Fetch-Site cross-site": {"Origin", g.ID, "Sec-Fetch-Site", "cross-site"},
		"Sec-Fetch-Site same-site":  {"Origin", g.ID, "Sec-Fetch-Site", "same-site"},
		"Origin null":               {"Origin", "null"},
		"Origin of another scheme":  {"Origin", strings.Replace(g.ID, "http:", "https:", 1)},
		"Origin with a prefix":      {"Origin", g.ID + ".evil.example"},
		"Origin with a longer port": {"Origin", g.ID + "0"},
		"Origin of another port":    {"Origin", g.API},
		"Origin elsewhere":          {"Origin", "https://evil.example"},
		"Origin with user":          {"Origin", strings.Replace(g.ID, "://", "://evil@", 1)},
		"Origin as a list":          {"Origin", g.ID + " https://evil.example"},
	}
}

// otherStart changes the first character of a random text, which may be any.
func otherStart(s string) string {
	if s[0] == 'A' {
		return "B" + s[1:]
	}
	return "A" + s[1:]
}

func TestCrossSiteFormsAreRefused(t *testing.T) { // U07, U08
	g, _ := start(t)
	b := harness.NewBrowser(t, g.ID)
	login := b.Get(authorizeURL(g, "other"))
	_, fields := harness.Form(t, login)
	fields.Set("username", username)
	fields.Set("password", password)
	stranger := harness.NewBrowser(t, g.ID)
	_, strange := harness.Form(t, stranger.Get(authorizeURL(g, "other")))
	refused := func(t *testing.T, p harness.Page) {
		t.Helper()
		wantPage(t, p, http.StatusForbidden)
		if len(p.Header.Values("Set-Cookie")) != 0 || session(t, g, b) != "" {
			t.Fatalf("a session: %v", p.Header)
		}
	}
	tokens := map[string]func(url.Values){
		"without a token":            func(v url.Values) { v.Del("token") },
		"with an empty token":        func(v url.Values) { v.Set("token", "") },
		"with another browser's":     func(v url.Values) { v.Set("token", strange.Get("token")) },
		"with one cut short":         func(v url.Values) { v.Set("token", v.Get("token")[:20]) },
		"with one that goes on":      func(v url.Values) { v.Set("token", v.Get("token")+"AA") },
		"with another's request":     func(v url.Values) { v.Set("request", strange.Get("request")) },
		"with a changed request":     func(v url.Values) { v.Set("request", otherStart(v.Get("request"))) },
		"with a request in the open": func(v url.Values) { v.Set("request", `{"client":"web"}`) },
		"with both of another":       func(v url.Values) { v.Set("token", strange.Get("token")); v.Set("request", strange.Get("request")) },
	}
	for name, change := range tokens {
		t.Run("U07 "+name, func(t *testing.T) {
			v := copied(fields)
			change(v)
			refused(t, b.Post(g.ID+"/login", v))
		})
	}
	for name, header := range foreign(g) {
		t.Run("U07 U08 "+name, func(t *testing.T) {
			refused(t, send(t, b, http.MethodPost, g.ID+"/login", fields.Encode(), header...))
		})
	}
	t.Run("U08 a browser without our cookie", func(t *testing.T) {
		refused(t, harness.NewBrowser(t, g.ID).Post(g.ID+"/login", fields))
	})
	t.Run("U07 the token of one form at another", func(t *testing.T) {
		b2, consent := consentPage(t, g, "bob")
		_, v := harness.Form(t, consent)
		_, out := harness.Form(t, b2.Get(g.ID+"/logout"))
		for _, token := range []string{out.Get("token"), "", strange.Get("token"), fields.Get("token")} {
			w := copied(v)
			w.Set("token", token)
			w.Set("decision", "allow")
			wantPage(t, b2.Post(g.ID+"/consent", w), http.StatusForbidden)
			if token != out.Get("token") {
				wantPage(t, b2.Post(g.ID+"/logout", url.Values{"token": {token}}), http.StatusForbidden)
			}
		}
		v.Set("decision", "allow")
		for name, header := range foreign(g) {
			for _, address := range []string{"/consent", "/logout"} {
				p := send(t, b2, http.MethodPost, g.ID+address, url.Values{"token": {v.Get("token")}, "request": {v.Get("request")}, "decision": {"allow"}}.Encode(), header...)
				if p.Status != http.StatusForbidden {
					t.Errorf("%s %s: %d", address, name, p.Status)
				}
			}
		}
		wantCode(t, g, b2.Post(g.ID+"/consent", v), "https://other.example/cb") // it was good all the time
	})
	t.Run("the form itself still works", func(t *testing.T) {
		if p := b.Post(g.ID+"/login", fields); p.Status != http.StatusOK || session(t, g, b) == "" {
			t.Errorf("%d %s", p.Status, p.Body)
		}
	})
}

func copied(v url.Values) url.Values {
	w := url.Values{}
	for name, values := range v {
		w[name] = append([]string(nil), values...)
	}
	return w
}

func TestAddedFormFieldsAreIgnored(t *testing.T) { // A40
	g, _ := start(t)
	evil := url.Values{
		"client_id": {"web"}, "redirect_uri": {"https://evil.example/cb"}, "scope": {"read write admin"}, "code_challenge": {harness.Challenge("x")},
		"code_challenge_method": {"plain"}, "nonce": {"evil"}, "state": {"evil"}, "response_type": {"token"}, "user": {"u-2"}, "user_id": {"u-2"}, "sub": {"u-2"}, "subject": {"u-2"},
	}
	b := harness.NewBrowser(t, g.ID)
	with := copied(evil)
	with.Set("username", username)
	with.Set("password", password)
	consent := b.Submit(b.Get(authorizeURL(g, "other")), with)
	wantPage(t, consent, http.StatusOK)
	if strings.Contains(consent.Body, "evil") || strings.Contains(consent.Body, "Administer") {
		t.Errorf("the consent page believes it: %s", consent.Body)
	}
	with = copied(evil)
	with.Set("decision", "allow")
	p := b.Submit(consent, with)
	c := wantCode(t, g, p, "https://other.example/cb")
	if back(t, g, p, "https://other.example/cb").Get("state") != "S" {
		t.Errorf("A40 state: %s", p.Header.Get("Location"))
	}
	if p := g.Token(t, web, exchange(c, "https://evil.example/cb")); p.Status != http.StatusBadRequest {
		t.Errorf("A40 another client: %d %s", p.Status, p.Body)
	}
	p = g.Token(t, other, exchange(c, "https://other.example/cb"))
	if p.Status != http.StatusOK || p.JSON(t)["scope"] != "read" && p.JSON(t)["scope"] != nil {
		t.Fatalf("A40 %d %s", p.Status, p.Body)
	}
	access, _ := p.JSON(t)["access_token"].(string)
	if p := g.Call(t, http.MethodGet, "/admin", access); p.Status != http.StatusForbidden {
		t.Errorf("A40 the scope grew: %d", p.Status)
	}
}

func TestAnotherBrowserCannotContinueAForm(t *testing.T) { // A41
	g, _ := start(t)
	mallory, bob := harness.NewBrowser(t, g.ID), harness.NewBrowser(t, g.ID)
	_, begun := harness.Form(t, mallory.Get(authorizeURL(g, "other", "state", "mallorys")))
	bobs := bob.Get(authorizeURL(g, "other"))
	t.Run("A41 Bob signs in to Mallory's request", func(t *testing.T) {
		_, v := harness.Form(t, bobs)
		v.Set("request", begun.Get("request"))
		v.Set("username", "bob")
		v.Set("password", password)
		wantPage(t, bob.Post(g.ID+"/login", v), http.StatusForbidden)
	})
	consent := bob.Submit(bobs, url.Values{"username": {"bob"}, "password": {password}})
	wantPage(t, consent, http.StatusOK)
	_, v := harness.Form(t, consent)
	v.Set("decision", "allow")
	t.Run("A41 Bob allows Mallory's request", func(t *testing.T) {
		w := copied(v)
		w.Set("request", begun.Get("request"))
		wantPage(t, bob.Post(g.ID+"/consent", w), http.StatusForbidden)
	})
	t.Run("A41 Mallory answers Bob's page, signed in or not", func(t *testing.T) {
		wantPage(t, mallory.Post(g.ID+"/consent", v), http.StatusForbidden)
		mallory.Submit(mallory.Get(g.ID+"/login"), url.Values{"username": {username}, "password": {password}})
		if session(t, g, mallory) == "" {
			t.Fatal("no session")
		}
		wantPage(t, mallory.Post(g.ID+"/consent", v), http.StatusForbidden)
	})
	t.Run("A41 Bob resumes his own", func(t *testing.T) {
		wantCode(t, g, bob.Post(g.ID+"/consent", v), "https://other.example/cb")
	})
}

func TestAnotherUserSignedInMeanwhile(t *testing.T) {
	g, _ := start(t)
	b, consent := consentPage(t, g, "bob")
	b.Submit(b.Get(g.ID+"/logout"), nil)
	b.Submit(b.Get(g.ID+"/login"), url.Values{"username": {username}, "password": {password}})
	wantPage(t, b.Submit(consent, url.Values{"decision": {"allow"}}), http.StatusForbidden)
}

func TestConsentPageAnswers(t *testing.T) {
	g, _ := start(t)
	const cb = "https://other.example/cb"
	t.Run("A33 deny, and allow once more", func(t *testing.T) {
		b, consent := consentPage(t, g, username)
		wantError(t, g, b.Submit(consent, url.Values{"decision": {"deny"}}), cb, "access_denied")
		if p := b.Get(authorizeURL(g, "other")); !strings.Contains(p.Body, `name="decision"`) {
			t.Errorf("a denial is remembered as a consent: %d %s", p.Status, p.Header.Get("Location"))
		}
	})
	t.Run("no decision", func(t *testing.T) {
		b, consent := consentPage(t, g, username)
		for _, decision := range []string{"", "ALLOW", "true", "allow "} {
			wantPage(t, b.Submit(consent, url.Values{"decision": {decision}}), http.StatusBadRequest)
		}
	})
	t.Run("U09 a GET never grants", func(t *testing.T) {
		b, consent := consentPage(t, g, username)
		action, v := harness.Form(t, consent)
		v.Set("decision", "allow")
		for _, query := range []string{"", "?" + v.Encode()} {
			wantPage(t, b.Get(action+query), http.StatusBadRequest)
		}
		if p := b.Get(authorizeURL(g, "other") + "&decision=allow&consent=allow&token=" + v.Get("token")); !strings.Contains(p.Body, `name="decision"`) {
			t.Errorf("%d %s", p.Status, p.Header.Get("Location"))
		}
		wantPage(t, send(t, b, http.MethodGet, action, v.Encode(), "Content-Type", "application/x-www-form-urlencoded"), http.StatusBadRequest)
		p := send(t, b, http.MethodPost, action+"?"+v.Encode(), "x=1", "Origin", g.ID)
		wantPage(t, p, http.StatusForbidden)
	})
	t.Run("A40 sent twice it is one code, and none once that was used", func(t *testing.T) {
		b, consent := consentPage(t, g, "bob")
		first := wantCode(t, g, b.Submit(consent, url.Values{"decision": {"allow"}}), cb)
		if again := wantCode(t, g, b.Submit(consent, url.Values{"decision": {"allow"}}), cb); again != first {
			t.Error("two codes")
		}
		if p := g.Token(t, other, exchange(first, cb)); p.Status != http.StatusOK {
			t.Fatalf("%d %s", p.Status, p.Body)
		}
		wantPage(t, b.Submit(consent, url.Values{"decision": {"allow"}}), http.StatusBadRequest)
	})
}

func TestUserLockTakesEffectAtOnce(t *testing.T) { // A34, U19
	g, _ := start(t)
	b, consent := consentPage(t, g, username)
	remembered := signedIn(t, g)
	g.WriteFile(t, "users.json", strings.Replace(users, `"name":"Alice"`, `"name":"Alice","locked":true`, 1))
	deadline := time.Now().Add(10 * time.Second)
	for back(t, g, remembered.Get(authorizeURL(g, "web")), callback).Has("code") {
		if time.Now().After(deadline) {
			t.Fatal("the lock is not noticed")
		}
		time.Sleep(50 * time.Millisecond)
	}
	t.Run("A34 between consent and code", func(t *testing.T) {
		wantError(t, g, b.Submit(consent, url.Values{"decision": {"allow"}}), "https://other.example/cb", "access_denied")
	})
	t.Run("A34 with session and consent", func(t *testing.T) {
		wantError(t, g, remembered.Get(authorizeURL(g, "web")), callback, "access_denied")
		wantError(t, g, remembered.Get(authorizeURL(g, "web", "prompt", "none")), callback, "access_denied")
	})
	t.Run("A34 between login page and password", func(t *testing.T) {
		fresh := harness.NewBrowser(t, g.ID)
		p := fresh.Submit(fresh.Get(authorizeURL(g, "web")), url.Values{"username": {username}, "password": {password}})
		wantPage(t, p, http.StatusUnauthorized)
	})
}

func TestReloadBetweenPages(t *testing.T) { // C13
	g, _ := start(t)
	b, consent := consentPage(t, g, username)
	login := harness.NewBrowser(t, g.ID)
	begun := login.Get(authorizeURL(g, "other"))
	for name, change := range map[string]func(string) string{
		"C13 the redirect address is gone": func(s string) string {
			return strings.Replace(s, "\t\t\tredirect_uri https://other.example/cb\n", "", 1)
		},
		"C13 the client is gone": func(s string) string { return strings.Replace(s, "client other {", "client another {", 1) },
	} {
		t.Run(name, func(t *testing.T) {
			g.Load(t, change(site))
			wantPage(t, b.Submit(consent, url.Values{"decision": {"allow"}}), http.StatusBadRequest)
			wantPage(t, b.Submit(consent, url.Values{"decision": {"deny"}}), http.StatusBadRequest)
			wantPage(t, login.Submit(begun, url.Values{"username": {username}, "password": {password}}), http.StatusBadRequest)
		})
	}
	t.Run("the scope is gone", func(t *testing.T) {
		g.Load(t, strings.Replace(site, "scopes read write admin", "scopes write admin", 1))
		wantError(t, g, b.Submit(consent, url.Values{"decision": {"allow"}}), "https://other.example/cb", "invalid_scope")
	})
	t.Run("everything is back", func(t *testing.T) {
		g.Load(t, site)
		wantCode(t, g, b.Submit(consent, url.Values{"decision": {"allow"}}), "https://other.example/cb")
	})
}

func TestPromptForcesANewSignInOrConsent(t *testing.T) { // A31
	g, _ := start(t)
	b := signedIn(t, g)
	for _, changes := range [][]string{{"prompt", "login"}, {"max_age", "0"}, {"prompt", "select_account"}} {
		t.Run(fmt.Sprintf("A31 %s=%s", changes[0], changes[1]), func(t *testing.T) {
			p := b.Get(authorizeURL(g, "web", changes...))
			if !isLogin(p) {
				t.Fatalf("%d %s", p.Status, p.Header.Get("Location"))
			}
			wantCode(t, g, b.Submit(p, url.Values{"username": {username}, "password": {password}}), callback)
		})
	}
	t.Run("A30 prompt consent asks again", func(t *testing.T) {
		p := b.Get(authorizeURL(g, "web", "prompt", "consent"))
		wantCode(t, g, b.Submit(p, url.Values{"decision": {"allow"}}), callback)
	})
	t.Run("A30 none where a sign-in is due", func(t *testing.T) {
		wantError(t, g, b.Get(authorizeURL(g, "web", "prompt", "none", "max_age", "0")), callback, "login_required")
	})
}

// A browser without cookies asks for three pages before it has the first: each form goes on, and no other browser's does.
func TestTabsOfAFirstVisit(t *testing.T) {
	g, _ := start(t)
	b := harness.NewBrowser(t, g.ID)
	u, err := url.Parse(g.ID)
	if err != nil {
		t.Fatal(err)
	}
	var tabs []harness.Page
	for _, state := range []string{"first", "second", "third"} {
		p := harness.NewBrowser(t, g.ID).Get(authorizeURL(g, "other", "state", state))
		b.Client.Jar.SetCookies(u, cookies(t, p))
		tabs = append(tabs, p)
	}
	signIn := url.Values{"username": {"bob"}, "password": {password}}
	again := b.Submit(tabs[0], signIn)
	wantPage(t, again, http.StatusOK)
	if session(t, g, b) != "" || !strings.Contains(again.Body, "your password was not checked") {
		t.Fatalf("a form from before the last sign-in cookie: %.500s", again.Body)
	}
	p := b.Submit(b.Submit(again, signIn), url.Values{"decision": {"allow"}})
	wantCode(t, g, p, "https://other.example/cb")
	if !strings.Contains(p.Header.Get("Location"), "state=first") {
		t.Errorf("another tab's request: %s", p.Header.Get("Location"))
	}
	for _, tab := range tabs[1:] { // the same user is signed in
		wantCode(t, g, b.Submit(tab, signIn), "https://other.example/cb")
	}
	wantPage(t, harness.NewBrowser(t, g.ID).Submit(tabs[0], signIn), http.StatusForbidden)
}
