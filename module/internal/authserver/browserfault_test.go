package authserver_test

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"github.com/gatehouse/gatehouse/module/internal/authserver"
)

// TestStoreFaultAtAnyStepIsA503AndLosesNothing has every single operation of each
// step fail in turn, before or after it took effect: the answer is 503 or the step
// succeeds all the same, and the same step on the healed store succeeds.
func TestStoreFaultAtAnyStepIsA503AndLosesNothing(t *testing.T) { // E05
	steps := map[string]func(*tokenRig) (run func() page, good func(page)){
		"a request of somebody signed in": func(g *tokenRig) (func() page, func(page)) {
			b := g.signedIn()
			g.pass(2 * 60e9) // the session's last use is written too
			return func() page { return b.get(authorizeURL(webRequest())) }, func(p page) { g.issued(p, http.StatusFound) }
		},
		"a sign-in": func(g *tokenRig) (func() page, func(page)) {
			b := g.browser()
			login := b.get(authorizeURL(webRequest()))
			return func() page { return b.signIn(login, "ann", annsPassword) }, g.isConsent
		},
		"a sign-in over a session": func(g *tokenRig) (func() page, func(page)) {
			b := g.signedIn()
			login := b.get(authorizeURL(webRequest().with("prompt", "login")))
			return func() page { return b.signIn(login, "ann", annsPassword) }, func(p page) { g.issued(p, http.StatusSeeOther) }
		},
		"the first consent": func(g *tokenRig) (func() page, func(page)) {
			b := g.browser()
			consent := b.consentPage(webRequest())
			return func() page { return b.submit(consent, "decision", "allow") }, func(p page) { g.issued(p, http.StatusSeeOther) }
		},
		"a wider consent": func(g *tokenRig) (func() page, func(page)) {
			b := g.signedIn()
			consent := b.get(authorizeURL(webRequest().with("scope", "read write")))
			return func() page { return b.submit(consent, "decision", "allow") }, func(p page) { g.issued(p, http.StatusSeeOther) }
		},
		"signing out": func(g *tokenRig) (func() page, func(page)) {
			b := g.signedIn()
			confirm := b.get(tokenIssuer + "/logout")
			return func() page { return b.submit(confirm) }, func(p page) {
				if p.status != http.StatusOK {
					g.t.Fatalf("%d", p.status)
				}
			}
		},
	}
	for name, prepare := range steps {
		for _, lost := range []bool{false, true} {
			for n, more := 1, true; more && !t.Failed(); n++ {
				t.Run(fmt.Sprintf("%s, operation %d, lost reply %v", name, n, lost), func(t *testing.T) {
					more = false // also when preparing fails
					g := newBrowserRig(t)
					run, good := prepare(g)
					g.store.plan(n, n, lost, errLost)
					p := run()
					more = n <= len(g.store.done()) // else the fault came after the last one
					g.store.plan(0, 0, false, nil)
					if p.status >= 400 {
						g.isError(p, http.StatusServiceUnavailable)
						p = run()
					}
					good(p)
				})
			}
		}
	}
}

// An alert tells from this count that users cannot sign in.
func TestEverySignInThatAFaultPreventsIsCounted(t *testing.T) {
	attempt := func(t *testing.T, address string, breakDown func(*tokenRig)) (p page, counted []string) {
		m := &signInMetrics{}
		g := newBrowserRig(t, func(c *authserver.Config) { c.Metrics = m })
		b := g.browser()
		login := b.get(address)
		breakDown(g)
		return b.signIn(login, "ann", annsPassword), m.all()
	}
	faults := 0
	for n, more := 1, true; more; n++ {
		var g *tokenRig
		p, counted := attempt(t, tokenIssuer+"/login", func(broken *tokenRig) { g = broken; g.store.plan(n, forever, false, errLost) })
		more = n <= len(g.store.done())
		want := []string{"ok"}
		if p.status == http.StatusServiceUnavailable {
			want = []string{"error"}
			faults++
		}
		if !slices.Equal(counted, want) {
			t.Errorf("from operation %d of the store: %d, counted as %q", n, p.status, counted)
		}
	}
	if faults < 3 {
		t.Errorf("only %d operations prevented a sign-in", faults)
	}
	p, counted := attempt(t, authorizeURL(webRequest()), func(g *tokenRig) {
		g.clients.mu.Lock()
		defer g.clients.mu.Unlock()
		g.clients.fault = errLost
	})
	if p.status != http.StatusServiceUnavailable || !slices.Equal(counted, []string{"error"}) {
		t.Errorf("without the clients: %d, counted as %q", p.status, counted)
	}
}

func TestUnstoredSignOutIsNotReported(t *testing.T) { // U06, E05
	g := newBrowserRig(t)
	b := g.signedIn()
	confirm := b.get(tokenIssuer + "/logout")
	g.store.Fail(errLost)
	p := b.submit(confirm)
	g.isError(p, http.StatusServiceUnavailable)
	if len(p.set) != 0 {
		t.Errorf("the cookie was cleared although the session lives: %v", p.set)
	}
	g.store.Fail(nil)
	g.issued(b.get(authorizeURL(webRequest())), http.StatusFound)
}

func TestEndingAllSessionsOutlivesTheBrowserConnection(t *testing.T) {
	g := newEndRig(t)
	b, a := g.tokens("ann", annsPassword)
	form := g.account(b).form("all", "everything").Encode()
	ctx, leave := context.WithCancel(t.Context())
	r := httptest.NewRequestWithContext(ctx, "POST", accountURL, strings.NewReader(form))
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	for name, value := range b.cookies {
		r.AddCookie(&http.Cookie{Name: name, Value: value})
	}
	g.cut.arm(3, leave)
	g.server.ServeHTTP(httptest.NewRecorder(), r)
	if !g.cut.fired() {
		t.Fatal("nothing was cut off")
	}
	g.isDead(a)
	g.isLogin(b.get(accountURL))
}

func TestStoreOutageIsNotAnEmptyAccountPage(t *testing.T) {
	g := newEndRig(t)
	b, _ := g.tokens("ann", annsPassword)
	p := g.account(b)
	for n := 1; n < 12; n++ {
		for name, step := range map[string]func() page{
			"look":     func() page { return b.get(accountURL) },
			"withdraw": func() page { return b.submit(p, "withdraw", p.buttons("withdraw")[0]) },
			"others":   func() page { return b.submit(p, "all", "others") },
		} {
			g.store.plan(n, 1000, false, errLost)
			got := step()
			faulty := n <= len(g.store.done())
			g.store.plan(0, 0, false, nil)
			if faulty {
				g.isError(got, http.StatusServiceUnavailable)
			} else if name == "look" {
				g.isAccount(got)
			}
		}
	}
}
