package authserver_test

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"sync"
	"testing"

	"github.com/gatehouse/gatehouse/module/directory"
	"github.com/gatehouse/gatehouse/module/internal/authserver"
	"github.com/gatehouse/gatehouse/module/store"
)

// TestPendingRequestsDoNotOutliveAnEnd has an end happen before every single operation
// on the store of what it races with, and once after the last.
func TestPendingRequestsDoNotOutliveAnEnd(t *testing.T) { // F10, C12
	redeemed := func(g *endRig, a answer) {
		if a.status == 200 {
			g.isDead(a)
		} else {
			g.want(a, 400, "invalid_grant")
		}
		g.eachGrantOf("u1", func(v store.Grant) {
			if !g.dead(v) {
				g.t.Errorf("a family lives: %+v", v)
			}
		})
	}
	sent := func(g *endRig, p page) { // where an authorization request led
		u, err := url.Parse(p.header.Get("Location"))
		g.must(err)
		if code := u.Query().Get("code"); code != "" {
			redeemed(g, g.token(redeemWeb(code)))
		} else if p.status == http.StatusOK || p.status == http.StatusBadRequest || u.Query().Get("error") == "access_denied" {
			redeemed(g, answer{status: 400, header: http.Header{}, body: ""}.refused())
		} else {
			g.t.Errorf("%d %v", p.status, p.header)
		}
	}
	for name, prepare := range map[string]func(*endRig) (run func(), check func()){
		"a redemption": func(g *endRig) (func(), func()) {
			_, code := g.allow(webRequest(), "ann", annsPassword)
			var a answer
			return func() { a = g.token(redeemWeb(code)) }, func() { redeemed(g, a) }
		},
		"a refresh": func(g *endRig) (func(), func()) {
			_, a := g.tokens("ann", annsPassword)
			return func() { a = g.token(refreshWeb(a.tokens.Refresh)) }, func() { redeemed(g, a) }
		},
		"a refresh again in its grace": func(g *endRig) (func(), func()) {
			_, a := g.tokens("ann", annsPassword)
			old := refreshWeb(a.tokens.Refresh)
			g.want(g.token(old), 200, "")
			return func() { a = g.token(old) }, func() { redeemed(g, a) }
		},
		"a request of somebody signed in": func(g *endRig) (func(), func()) {
			b, code := g.allow(webRequest(), "ann", annsPassword)
			g.want(g.token(redeemWeb(code)), 200, "")
			var p page
			return func() { p = b.get(authorizeURL(webRequest())) }, func() { sent(g, p) }
		},
	} {
		for end, do := range map[string]func(*endRig){
			"user":   func(g *endRig) { g.endAnn() },
			"client": func(g *endRig) { g.must(g.server.EndClient(g.t.Context(), "u1", "web")) },
		} {
			for n, more := 1, true; more && !t.Failed(); n++ {
				t.Run(fmt.Sprintf("%s, the %s ended before operation %d", name, end, n), func(t *testing.T) {
					more = false
					g := newEndRig(t)
					run, check := prepare(g)
					g.cut.arm(n, func() { do(g) })
					run()
					if more = g.cut.fired(); !more {
						do(g)
					}
					check()
				})
			}
		}
	}
}

// TestInterruptedEndIsComplete has what it races with happen whole before every
// single operation of the end, and what follows from it afterwards.
func TestInterruptedEndIsComplete(t *testing.T) { // F10, C12
	for end, do := range map[string]func(*endRig){
		"user":   func(g *endRig) { g.endAnn() },
		"client": func(g *endRig) { g.must(g.server.EndClient(g.t.Context(), "u1", "web")) },
	} {
		for n, more := 1, true; more && !t.Failed(); n++ {
			more = false
			g := newEndRig(t)
			b, a := g.tokens("ann", annsPassword)
			code := g.issued(b.get(authorizeURL(webRequest())), http.StatusFound)
			var got []answer
			g.cut.arm(n, func() {
				got = append(got, g.token(refreshWeb(a.tokens.Refresh)), g.token(redeemWeb(code)))
				u, err := url.Parse(b.get(authorizeURL(webRequest())).header.Get("Location"))
				g.must(err)
				got = append(got, g.token(redeemWeb(u.Query().Get("code"))))
			})
			do(g)
			more = g.cut.fired()
			for i, a := range append(got, a) {
				if a.status == 200 && g.alive(a.tokens.Access) {
					t.Errorf("%s, at operation %d, number %d: the access token lives", end, n, i)
				}
				if a.tokens.Refresh != "" {
					g.want(g.token(refreshWeb(a.tokens.Refresh)), 400, "invalid_grant")
				}
			}
			g.want(g.token(redeemWeb(code)), 400, "invalid_grant")
			g.eachGrantOf("u1", func(v store.Grant) {
				if !g.dead(v) {
					t.Errorf("%s, at operation %d: a family lives", end, n)
				}
			})
		}
	}
}

// refused makes an answer look like a refusal of the token endpoint.
func (a answer) refused() answer {
	a.header.Set("Cache-Control", "no-store")
	a.header.Set("X-Content-Type-Options", "nosniff")
	a.header.Set("Content-Type", "application/json; charset=utf-8")
	a.tokens.Error = "invalid_grant"
	return a
}

func TestSignInInProgressDoesNotSurviveItsUsersEnd(t *testing.T) { // N02
	for n, more := 1, true; more && !t.Failed(); n++ {
		users := &watchedUsers{}
		g := newEndRig(t, users.watch)
		b := g.browser()
		login := b.get(authorizeURL(webRequest()))
		end := func() {
			users.changed = true
			g.endAnn()
		}
		g.cut.arm(n, end)
		b.signIn(login, "ann", annsPassword)
		if more = g.cut.fired(); !more {
			end()
		}
		g.isLogin(b.get(authorizeURL(webRequest())))
		g.sweep()
		if left := g.count(store.KindSession, "u1"); left != 0 {
			t.Errorf("ended before operation %d: %d sessions are left", n, left)
		}
	}
}

// A password that was looked at before an end may be the former one: it is looked at again.
func TestEndWhileThePasswordIsChecked(t *testing.T) { // N02
	for _, c := range []struct {
		name    string
		ends    int // so many checks
		changed bool
		want    int
	}{
		{"once", 1, false, http.StatusOK},
		{"the password was changed", 1, true, http.StatusUnauthorized},
		{"each time", 3, false, http.StatusUnauthorized},
	} {
		t.Run(c.name, func(t *testing.T) {
			users := &watchedUsers{}
			g := newEndRig(t, users.watch)
			b := g.browser()
			login := b.get(authorizeURL(webRequest()))
			users.after = func() {
				if users.checks <= c.ends {
					users.changed = c.changed
					g.endAnn()
				}
			}
			p := b.signIn(login, "ann", annsPassword)
			if p.status != c.want || users.checks != 2 || p.status != http.StatusOK && len(p.set) != 0 {
				t.Errorf("%d %v after %d checks", p.status, p.set, users.checks)
			}
			users.after, users.changed = nil, false
			b = g.browser()
			g.isConsent(b.signIn(b.get(authorizeURL(webRequest())), "ann", annsPassword))
		})
	}
}

// watchedUsers is a directory that counts checked passwords and calls back after each.
type watchedUsers struct {
	directory.Directory
	checks  int
	changed bool // no password is right any more
	after   func()
}

func (w *watchedUsers) watch(c *authserver.Config) { w.Directory, c.Directory = c.Directory, w }

func (w *watchedUsers) Authenticate(ctx context.Context, username, password string) (directory.User, bool, error) {
	w.checks++
	u, ok, err := w.Directory.Authenticate(ctx, username, password)
	if w.changed {
		u, ok = directory.User{}, false
	}
	if w.after != nil {
		w.after()
	}
	return u, ok, err
}

// What the user allows in one tab while taking it back in another holds or does not; but
// what holds must be on the list, to be taken back again.
func TestConsentGivenDuringRevocationIsNeverPartial(t *testing.T) {
	for n, more := 1, true; more && !t.Failed(); n++ {
		more = false
		g := newEndRig(t)
		b := g.browser()
		consent := b.consentPage(webRequest())
		g.cut.arm(n, func() { g.must(g.server.EndClient(t.Context(), "u1", "web")) })
		p := b.submit(consent, "decision", "allow")
		more = g.cut.fired()
		u, err := url.Parse(p.header.Get("Location"))
		g.must(err)
		if code := u.Query().Get("code"); code != "" && g.count(store.KindConsent, "u1") == 0 {
			g.want(g.token(redeemWeb(code)), 400, "invalid_grant")
		}
		if more { // the permission was asked for before the end, so it is none after it
			g.isConsent(b.get(authorizeURL(webRequest())))
		}
	}
}

func TestEndsRacingWithRefreshesAndExchanges(t *testing.T) {
	g := newEndRig(t)
	for range 20 {
		b, a := g.tokens("ann", annsPassword)
		code := g.issued(b.get(authorizeURL(webRequest())), http.StatusFound)
		answers := make([]answer, 6)
		start := make(chan struct{})
		var all sync.WaitGroup
		for i := range answers {
			all.Go(func() {
				<-start
				if i%2 == 0 {
					answers[i] = g.token(refreshWeb(a.tokens.Refresh))
				} else {
					answers[i] = g.token(redeemWeb(code))
				}
			})
		}
		all.Go(func() {
			<-start
			g.endAnn()
		})
		close(start)
		all.Wait()
		for _, got := range answers {
			if got.status == 200 {
				g.isDead(got)
			} else {
				g.want(got, 400, "invalid_grant")
			}
		}
		g.eachGrantOf("u1", func(v store.Grant) {
			if !g.dead(v) {
				t.Error("a family lives")
			}
		})
	}
}
