package gateway

import (
	"fmt"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"sync"
	"testing"

	"github.com/gatehouse/gatehouse/internal/testkit/harness"
)

// behindProxy is the site with the test as a trusted proxy, so that requests may come
// from any address.
var behindProxy = strings.Replace(site, "persist_config off", "persist_config off\n\tservers {\n\t\ttrusted_proxies static 127.0.0.1/32 ::1/128\n\t}", 1)

// attempts signs in again and again, and out again.
type attempts struct {
	t      *testing.T
	g      *harness.Gateway
	b      *harness.Browser
	fields url.Values
}

func newAttempts(t *testing.T, g *harness.Gateway) *attempts {
	t.Helper()
	b := harness.NewBrowser(t, g.ID)
	_, fields := harness.Form(t, b.Get(authorizeURL(g, "other")))
	return &attempts{t, g, b, fields}
}

// try signs in from an address ("" for that of the test itself), and out again if that succeeds.
func (a *attempts) try(user, pass, ip string) harness.Page {
	a.t.Helper()
	v := copied(a.fields)
	v.Set("username", user)
	v.Set("password", pass)
	header := []string{"Origin", a.g.ID, "Sec-Fetch-Site", "same-origin"}
	if ip != "" {
		header = append(header, "X-Forwarded-For", ip)
	}
	p := send(a.t, a.b, http.MethodPost, a.g.ID+"/login", v.Encode(), header...)
	if p.Status == http.StatusOK { // signed in: this form has done its work
		wantPage(a.t, a.b.Submit(a.b.Get(a.g.ID+"/logout"), nil), http.StatusOK)
		_, a.fields = harness.Form(a.t, a.b.Get(authorizeURL(a.g, "other")))
	}
	return p
}

func (a *attempts) refused(user, pass, ip string) {
	a.t.Helper()
	p := a.try(user, pass, ip)
	wantPage(a.t, p, http.StatusUnauthorized)
	if len(p.Header.Values("Set-Cookie")) != 0 || p.Header.Get("WWW-Authenticate") != "" {
		a.t.Errorf("headers: %v", p.Header)
	}
}

func TestRefusedSignInsLookAlike(t *testing.T) { // U13, U25
	g, _ := start(t)
	a := newAttempts(t, g)
	t.Run("U13 unknown, wrong, locked", func(t *testing.T) {
		var pages []string
		for _, c := range [][2]string{{username, "wrong"}, {"nobody", password}, {"nobody", "wrong"}, {"mallory", password}, {"mallory", "wrong"}} {
			p := a.try(c[0], c[1], "")
			wantPage(t, p, http.StatusUnauthorized)
			p.Header.Del("Date")
			p.Header.Del("Content-Length")
			pages = append(pages, fmt.Sprint(p.Header)+strings.ReplaceAll(withoutToken(p), `value="`+c[0]+`"`, `value="X"`))
		}
		for i := range pages {
			if pages[i] != pages[0] {
				t.Errorf("page %d differs:\n%s\n%s", i, pages[i], pages[0])
			}
		}
	})
	t.Run("U25 a hint", func(t *testing.T) {
		var pages []string
		for _, hint := range []string{username, "nobody", "mallory"} {
			p := a.b.Get(authorizeURL(g, "other", "login_hint", hint))
			wantPage(t, p, http.StatusOK)
			_, v := harness.Form(t, p)
			pages = append(pages, strings.NewReplacer(v.Get("request"), "", `value="`+hint+`"`, "").Replace(withoutToken(p)))
		}
		if pages[0] != pages[1] || pages[0] != pages[2] {
			t.Errorf("the pages differ: %s", pages)
		}
	})
}

// withoutToken is a page without the token of its form, which has the time in it.
func withoutToken(p harness.Page) string {
	return regexp.MustCompile(`name="token" value="[^"]*"`).ReplaceAllString(p.Body, "")
}

func TestTenFailuresLockAnAccount(t *testing.T) { // U14
	g, _ := startSite(t, behindProxy)
	a := newAttempts(t, g)
	ip := 0
	next := func() string { ip++; return fmt.Sprintf("192.0.2.%d", ip) }
	for range 9 {
		a.refused(username, "wrong", next())
	}
	if p := newAttempts(t, g).try(username, password, next()); p.Status != http.StatusOK {
		t.Fatalf("U14 locked after nine: %d", p.Status)
	}
	// The success was not held against her, and did not wipe the slate either: nine
	// failures and a visit to one's own account must not give a guesser nine more.
	wrong := a.try("Alice", "wrong", next()) // the spelling is no way around it
	wantPage(t, wrong, http.StatusUnauthorized)
	for _, spelling := range []string{username, username, "ALICE", " alice ", "ａlice"} {
		p := a.try(spelling, password, next())
		wantPage(t, p, http.StatusUnauthorized)
		if got := strings.ReplaceAll(withoutToken(p), `value="`+spelling+`"`, `value="Alice"`); got != withoutToken(wrong) {
			t.Errorf("U14 the page tells of the lock: %s", p.Body)
		}
	}
	if p := a.try("bob", password, next()); p.Status != http.StatusOK {
		t.Errorf("U14 bob is locked too: %d", p.Status)
	}
}

func TestAttemptsOfOneAddressAreLimited(t *testing.T) { // U16, U17
	g, _ := startSite(t, behindProxy)
	a := newAttempts(t, g)
	t.Run("U17 many names from one address", func(t *testing.T) {
		for i := range 30 {
			a.refused(fmt.Sprintf("user%d", i), "wrong", "198.51.100.7")
		}
		for i, user := range []string{"user31", username} {
			p := a.try(user, password, []string{"198.51.100.7", "::ffff:198.51.100.7"}[i])
			wantPage(t, p, http.StatusTooManyRequests)
			if p.Header.Get("Retry-After") == "" {
				t.Error("no Retry-After")
			}
		}
		if p := a.try(username, password, "198.51.100.8"); p.Status != http.StatusOK {
			t.Errorf("another address: %d", p.Status)
		}
	})
	t.Run("U17 an IPv6 customer has one count", func(t *testing.T) {
		for i := range 30 {
			a.refused(fmt.Sprintf("user%d", i), "wrong", fmt.Sprintf("2001:db8:1:2:%x::1", i))
		}
		wantPage(t, a.try("user31", "wrong", "2001:db8:1:2:ffff::9"), http.StatusTooManyRequests)
		a.refused("user31", "wrong", "2001:db8:1:3::1")
	})
	t.Run("U16 five hundred at once", func(t *testing.T) {
		var mu sync.Mutex
		var all sync.WaitGroup
		got := map[int]int{}
		begin := make(chan struct{})
		for i := range 500 {
			all.Go(func() {
				<-begin
				p := a.try(fmt.Sprintf("guess%d", i), password, "203.0.113.9")
				mu.Lock()
				defer mu.Unlock()
				got[p.Status]++
			})
		}
		close(begin)
		all.Wait()
		// On a busy machine some of them are refused by overload control, before they count. Others take their place.
		more := 0
		for ; got[http.StatusTooManyRequests] == 0 && more < 100; more++ {
			got[a.try(fmt.Sprintf("later%d", more), password, "203.0.113.9").Status]++
		}
		if n := got[http.StatusTooManyRequests]; n == 0 || got[http.StatusUnauthorized] != 30 || 30+n+got[http.StatusServiceUnavailable] != 500+more {
			t.Errorf("answers by status: %v", got)
		}
	})
}

func TestForwardedAddressIsIgnored(t *testing.T) { // U18
	g, _ := start(t, "$GLOBAL", "protect {\n\t\t\tper_address 5\n\t\t}")
	a := newAttempts(t, g)
	for i := range 5 {
		a.refused(fmt.Sprintf("user%d", i), "wrong", fmt.Sprintf("198.51.100.%d", i))
	}
	p := a.try(username, password, "198.51.100.77")
	wantPage(t, p, http.StatusTooManyRequests)
}

func TestPasswordLengthIsLimited(t *testing.T) { // U20
	g, _ := start(t)
	a := newAttempts(t, g)
	long := strings.Repeat("p", 1025)
	for name, c := range map[string]struct {
		user, pass string
		status     int
	}{
		"U20 1,025 bytes": {username, long, http.StatusBadRequest},
		"U20 NUL":         {username, "a\x00b", http.StatusBadRequest},
		"U20 10 MB":       {username, strings.Repeat("p", 10<<20), http.StatusRequestEntityTooLarge},
		"a long name":     {long, "p", http.StatusBadRequest},
		"a name with NUL": {"a\x00", "p", http.StatusBadRequest},
		"1,024 bytes":     {username, long[1:], http.StatusUnauthorized},
		"no password":     {username, "", http.StatusUnauthorized},
		"no name":         {"", password, http.StatusUnauthorized},
	} {
		t.Run(name, func(t *testing.T) { wantPage(t, a.try(c.user, c.pass, ""), c.status) })
	}
	t.Run("a repeated password", func(t *testing.T) {
		p := send(t, a.b, http.MethodPost, g.ID+"/login", a.fields.Encode()+"&username=alice&password=x&password="+url.QueryEscape(password), "Origin", g.ID)
		wantPage(t, p, http.StatusBadRequest)
	})
}

func TestSessionIDIsNewAtSignIn(t *testing.T) { // U04: session fixation
	g, _ := start(t)
	b := signedIn(t, g)
	first := session(t, g, b)
	t.Run("a planted session id is not taken on", func(t *testing.T) {
		planted := "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA"
		victim := harness.NewBrowser(t, g.ID)
		u, err := url.Parse(g.ID)
		if err != nil {
			t.Fatal(err)
		}
		for _, id := range []string{planted, first} { // the second is the attacker's own live session
			victim.Client.Jar.SetCookies(u, []*http.Cookie{{Name: "gatehouse", Value: id, Path: "/"}})
			victim.Submit(victim.Get(authorizeURL(g, "other", "prompt", "login")), url.Values{"username": {"bob"}, "password": {password}})
			if got := session(t, g, victim); got == id || len(got) < 22 {
				t.Fatalf("the session is %q, planted was %q", got, id)
			}
			attacker := harness.NewBrowser(t, g.ID)
			attacker.Client.Jar.SetCookies(u, []*http.Cookie{{Name: "gatehouse", Value: id, Path: "/"}})
			if p := attacker.Get(g.ID + "/logout"); strings.Contains(p.Body, "bob") {
				t.Errorf("the planted id is bob's session: %s", p.Body)
			}
		}
	})
	t.Run("logout ends the session on the server", func(t *testing.T) {
		b := signedIn(t, g)
		u, err := url.Parse(g.ID)
		if err != nil {
			t.Fatal(err)
		}
		kept := b.Client.Jar.Cookies(u)
		wantPage(t, b.Submit(b.Get(g.ID+"/logout"), nil), http.StatusOK)
		if session(t, g, b) != "" {
			t.Error("the cookie is still there")
		}
		thief := harness.NewBrowser(t, g.ID)
		thief.Client.Jar.SetCookies(u, kept)
		wantError(t, g, thief.Get(authorizeURL(g, "web", "prompt", "none")), callback, "login_required")
	})
	t.Run("cookies that are none of ours are nobody", func(t *testing.T) {
		for _, value := range []string{"x", "../../etc", strings.Repeat("A", 4000), strings.Repeat("A", 42), strings.Repeat("A", 44), "%00"} {
			p := send(t, harness.NewBrowser(t, g.ID), http.MethodGet, authorizeURL(g, "web", "prompt", "none"), "", "Cookie", "gatehouse="+value+"; gatehouse-browser="+value)
			wantError(t, g, p, callback, "login_required")
		}
	})
}
