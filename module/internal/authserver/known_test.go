package authserver_test

import (
	"encoding/base64"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/gatehouse/gatehouse/module/directory"
	"github.com/gatehouse/gatehouse/module/directory/directorytest"
	"github.com/gatehouse/gatehouse/module/internal/audit"
	"github.com/gatehouse/gatehouse/module/internal/authserver"
)

const knownCookie = "__Host-gatehouse-known"

// with is a browser that has nothing but these cookies.
func (g *tokenRig) with(cookies map[string]string, names ...string) *tab {
	b := &tab{g, map[string]string{}}
	for _, name := range names {
		b.cookies[name] = cookieOf(cookies, name)
	}
	return b
}

// lockOut lets strangers lock a name.
func (g *tokenRig) lockOut(name string) {
	g.t.Helper()
	b := g.browser()
	login := b.get(tokenIssuer + "/login")
	for range 10 {
		if p := b.signIn(login, name, "guess"); p.status != http.StatusUnauthorized {
			g.t.Fatalf("%d", p.status)
		}
	}
	if p := b.signIn(login, name, annsPassword); p.status != http.StatusUnauthorized {
		g.t.Fatalf("a stranger with the right password: %d", p.status)
	}
}

// home is a browser at which people signed in before and signed out since.
func (g *tokenRig) home(people ...[2]string) *tab {
	g.t.Helper()
	b := g.browser()
	for _, who := range people {
		b.cookies = map[string]string{browserCookie: b.browserID(), lastSignInCookie: b.cookies[lastSignInCookie], knownCookie: b.cookies[knownCookie]}
		if p := b.signIn(b.get(tokenIssuer+"/login"), who[0], who[1]); p.status != http.StatusSeeOther {
			g.t.Fatalf("%s: %d", who[0], p.status)
		}
	}
	b.submit(b.get(tokenIssuer + "/logout"))
	return g.with(b.cookies, knownCookie)
}

func (b *tab) tries(name, pass string) int {
	c := b.g.with(b.cookies, knownCookie)
	p := c.signIn(c.get(tokenIssuer+"/login"), name, pass)
	if value, ok := c.cookies[knownCookie]; ok && p.status == http.StatusSeeOther {
		b.cookies[knownCookie] = value
	}
	return p.status
}

var (
	ann = [2]string{"ann", annsPassword}
	bob = [2]string{"bob", "y"}
)

func TestKnownBrowserBypassesLockout(t *testing.T) { // N06
	var events *trail
	rig := func(t *testing.T) *tokenRig {
		g := newBrowserRig(t, twoUsers, recorded(&events), func(c *authserver.Config) { c.Protect.PerAddress = 10_000 })
		return g
	}
	want := func(t *testing.T, what string, got, want int) {
		t.Helper()
		if got != want {
			t.Errorf("N06 %s: %d, want %d", what, got, want)
		}
	}
	t.Run("N06 although strangers locked the person out", func(t *testing.T) {
		g := rig(t)
		home, bobs := g.home(ann), g.home(bob)
		g.lockOut("ann")
		want(t, "her browser", home.tries("ann", annsPassword), http.StatusSeeOther)
		want(t, "her browser, spelt otherwise", home.tries(" ANN", annsPassword), http.StatusUnauthorized) // the directory knows no such name
		want(t, "the browser of somebody else", bobs.tries("ann", annsPassword), http.StatusUnauthorized)
		want(t, "no browser", g.with(nil).tries("ann", annsPassword), http.StatusUnauthorized)
		if got := len(events.of(audit.Lockout)); got != 1 {
			t.Errorf("%d lockouts", got)
		}
	})
	t.Run("N06 whose guesses are its own and as few", func(t *testing.T) {
		g := rig(t)
		home, other := g.home(ann), g.home(ann)
		for range 10 {
			want(t, "a wrong password", home.tries("ann", "wrong"), http.StatusUnauthorized)
		}
		want(t, "the browser that failed ten times", home.tries("ann", annsPassword), http.StatusUnauthorized)
		want(t, "another browser of hers", other.tries("ann", annsPassword), http.StatusSeeOther)
		want(t, "a stranger's", g.browser().tries("ann", annsPassword), http.StatusSeeOther)
		g.pass(15 * time.Minute)
		want(t, "after the lock", home.tries("ann", annsPassword), http.StatusSeeOther)
	})
	t.Run("N06 and all browsers of the person have a limit together", func(t *testing.T) {
		g := rig(t)
		var browsers []*tab
		for range 7 {
			browsers = append(browsers, g.home(ann))
		}
		for i, b := range browsers[:6] {
			for range 9 {
				b.tries("ann", "wrong")
			}
			status := http.StatusSeeOther
			if i == 5 { // 50 failures
				status = http.StatusUnauthorized
			}
			want(t, fmt.Sprint("browser ", i), b.tries("ann", annsPassword), status)
		}
		want(t, "one that never failed", browsers[6].tries("ann", annsPassword), http.StatusUnauthorized)
	})
	t.Run("N06 for several people, not for any number", func(t *testing.T) {
		g := rig(t)
		home := g.home(ann, bob)
		g.lockOut("ann")
		g.lockOut("bob")
		want(t, "the first", home.tries("ann", annsPassword), http.StatusSeeOther)
		want(t, "the second", home.tries("bob", "y"), http.StatusSeeOther)
	})
	t.Run("N06 until it is signed out everywhere", func(t *testing.T) {
		g := rig(t)
		home, bobs := g.home(ann), g.home(bob)
		g.pass(time.Hour)
		g.must(g.server.EndSubject(t.Context(), "u1")) // as a changed password does
		g.lockOut("ann")
		g.lockOut("bob")
		want(t, "her browser", home.tries("ann", annsPassword), http.StatusUnauthorized)
		want(t, "somebody else's", bobs.tries("bob", "y"), http.StatusSeeOther)
		g.pass(15 * time.Minute)
		want(t, "after the lock", home.tries("ann", annsPassword), http.StatusSeeOther)
		g.lockOut("ann")
		want(t, "known once more", home.tries("ann", annsPassword), http.StatusSeeOther)
	})
	t.Run("N06 for thirty days", func(t *testing.T) {
		g := rig(t)
		home := g.home(ann)
		g.pass(30*24*time.Hour - time.Second)
		g.lockOut("ann")
		want(t, "in time", home.tries("ann", annsPassword), http.StatusSeeOther)
		g = rig(t)
		home = g.home(ann)
		g.pass(30 * 24 * time.Hour)
		g.lockOut("ann")
		want(t, "too late", home.tries("ann", annsPassword), http.StatusUnauthorized)
	})
	t.Run("N06 and not with a cookie that nobody gave it", func(t *testing.T) {
		g := rig(t)
		home := g.home(ann)
		g.lockOut("ann")
		value := home.cookies[knownCookie]
		flipped := []byte(value)
		flipped[len(value)/2] ^= 1
		for _, forged := range []string{"", "x", value[1:], string(flipped), strings.Repeat("A", 5000)} {
			home.cookies[knownCookie] = forged
			want(t, fmt.Sprintf("%.20q", forged), home.tries("ann", annsPassword), http.StatusUnauthorized)
		}
	})
}

// The cookie says to nobody who signed in, and lasts.
func TestKnownBrowserCookie(t *testing.T) {
	g := newBrowserRig(t, twoUsers)
	b := g.browser()
	login := b.get(tokenIssuer + "/login")
	if p := b.signIn(login, "ann", "wrong"); len(p.set) != 0 {
		t.Errorf("after a wrong password: %v", p.set)
	}
	p := b.signIn(login, "ann", annsPassword)
	var got *http.Cookie
	for _, c := range p.set {
		if c.Name == knownCookie {
			got = c
		}
	}
	if got == nil || !got.Secure || !got.HttpOnly || got.SameSite != http.SameSiteLaxMode || got.Path != "/" || got.Domain != "" || got.MaxAge != 30*24*3600 {
		t.Fatalf("%+v", got)
	}
	raw, err := base64.RawURLEncoding.DecodeString(got.Value)
	if err != nil || strings.Contains(string(raw), "ann") || strings.Contains(string(raw), "u1") {
		t.Errorf("%q, %v", raw, err)
	}
}

// A directory that tells only with its answer whom a name leads to: the name that was
// typed last counts.
func TestKnownBrowserWithALateResolvingDirectory(t *testing.T) { // N06, N08
	g, _ := newAliasRig(t, true)
	home := g.home([2]string{alias(1), annsPassword})
	g.lockOut("ann")
	for name, want := range map[string]int{alias(1): http.StatusSeeOther, alias(2): http.StatusUnauthorized} {
		if status := home.tries(name, annsPassword); status != want {
			t.Errorf("N06 %s: %d, want %d", name, status, want)
		}
	}
}

// N06, CVE-2024-4629: parallel guesses with one cookie.
func TestParallelGuessesOfAKnownBrowserAreLimited(t *testing.T) {
	const parallel = 60
	var d *watched
	g := newBrowserRig(t, watch(&d), func(c *authserver.Config) {
		c.Protect.HashConcurrency, c.Protect.HashQueueTimeout = parallel, time.Minute
	})
	home := g.home(ann)
	login := home.get(tokenIssuer + "/login")
	before := len(d.asked())
	d.began, d.end = make(chan struct{}, parallel), make(chan struct{})
	var all sync.WaitGroup
	for i := range parallel {
		tab := g.with(home.cookies, browserCookie, lastSignInCookie, knownCookie)
		all.Go(func() { tab.signIn(login, "ann", fmt.Sprint("guess", i)) })
	}
	for range parallel {
		<-d.began
	}
	close(d.end)
	all.Wait()
	guesses := 0
	for _, name := range d.asked()[before:] {
		if name == "ann" {
			guesses++
		}
	}
	if guesses != 10 {
		t.Errorf("N06 %d of %d guesses were evaluated, want 10", guesses, parallel)
	}
}

// At the cap the browser forgets who signed in first.
func TestBrowserRemembersAtMostFiveUsers(t *testing.T) {
	g := newBrowserRig(t, manyUsers(6), func(c *authserver.Config) { c.Protect.PerAddress = 10_000 })
	var people [][2]string
	for i := range 6 {
		people = append(people, [2]string{fmt.Sprint("user", i), annsPassword})
	}
	home := g.home(people...)
	for i, who := range people {
		g.lockOut(who[0])
		want := http.StatusSeeOther
		if i == 0 {
			want = http.StatusUnauthorized
		}
		if status := g.with(home.cookies, knownCookie).tries(who[0], who[1]); status != want {
			t.Errorf("N06 %s: %d, want %d", who[0], status, want)
		}
	}
}

// manyUsers have long ids, for the length of the cookie.
func manyUsers(n int) func(*authserver.Config) {
	return func(c *authserver.Config) {
		var all []directorytest.Seed
		for i := range n {
			id := strings.Repeat(fmt.Sprint(i), 255)
			all = append(all, directorytest.Seed{User: directory.User{ID: id, Username: fmt.Sprint("user", i)}, Password: annsPassword})
		}
		c.Directory = directorytest.NewMemory(all...)
	}
}
