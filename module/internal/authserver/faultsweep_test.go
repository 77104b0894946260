package authserver_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/gatehouse/gatehouse/module/store"
)

// sweptStep is a request whose every access to the store fails in turn.
type sweptStep struct {
	g   *tokenRig
	run func() page
	// good fails the test unless the page says that it is done. again is set for the second attempt, after a 503.
	good func(p page, again bool)
	// then looks at what became of it.
	then func()
}

// sweepFaults has each access to the store, and each revocation, fail in turn, alone or with all that follow, before or
// after it took effect: the step answers 503 and says nothing else, or succeeds all the same, and on the healed store it
// succeeds.
func sweepFaults(t *testing.T, prepare func(*testing.T) sweptStep) {
	t.Helper()
	faults := 0
	for _, lost := range []bool{false, true} {
		for _, all := range []bool{false, true} {
			for n, more := 1, true; more && !t.Failed(); n++ {
				t.Run(fmt.Sprintf("operation %d, lost reply %v, all that follow %v", n, lost, all), func(t *testing.T) {
					more = false // also when preparing fails
					s := prepare(t)
					last := n
					if all {
						last = forever
					}
					s.g.revoker.through = s.g.store
					s.g.store.plan(n, last, lost, errLost)
					p := s.run()
					ops := s.g.store.done()
					more = n <= len(ops) // else the fault came after the last one
					s.g.store.plan(0, 0, false, nil)
					again := p.status == http.StatusServiceUnavailable
					if again {
						faults++
						if p.header.Get("Retry-After") == "" || strings.Contains(p.body, errLost.Error()) {
							t.Fatalf("%v %s", p.header, p.body)
						}
						p = s.run()
					}
					s.good(p, again)
					if s.then != nil {
						s.then()
					}
					if t.Failed() {
						t.Logf("operations: %v", ops)
					}
				})
			}
		}
	}
	if faults == 0 {
		t.Error("no fault came to anything")
	}
}

func wantPage(t *testing.T, g *tokenRig, status int) func(page, bool) {
	return func(p page, _ bool) { t.Helper(); g.t = t; g.wantStatus(status)(p) }
}

// What a user ends on the account page is ended when the page says so, and never half forgotten.
func TestStoreFaultLosesNoEnd(t *testing.T) { // E05
	for name, press := range map[string]func(b *tab, p page) page{
		"everything": func(b *tab, p page) page { return b.submit(p, "all", "everything") },
		"withdraw":   func(b *tab, p page) page { return b.submit(p, "withdraw", p.buttons("withdraw")[0]) },
		"others":     func(b *tab, p page) page { return b.submit(p, "all", "others") },
		"end":        func(b *tab, p page) page { return b.submit(p, "end", p.buttons("end")[1]) },
	} {
		t.Run(name, func(t *testing.T) {
			sweepFaults(t, func(t *testing.T) sweptStep {
				g := newEndRig(t)
				here, a := g.tokens("ann", annsPassword)
				other, second := g.tokens("ann", annsPassword)
				pending := g.issued(other.get(authorizeURL(webRequest())), http.StatusFound)
				p := g.account(here)
				return sweptStep{g.tokenRig, func() page { return press(here, p) }, func(p page, again bool) {
					switch {
					case p.status != http.StatusOK:
						t.Fatalf("%d %s", p.status, p.body)
					case name == "everything" && !again:
						g.isSignedOutPage(p)
					case name != "everything":
						g.isAccount(p)
					} // else it had ended, and whoever tries again is asked to sign in
				}, func() {
					g.sweep() // which completes what failed halfway
					switch name {
					case "everything":
						g.isLogin(here.get(accountURL))
						g.isLogin(other.get(accountURL))
						g.isDead(a)
						g.isDead(second)
						g.want(g.token(redeemWeb(pending)), 400, "invalid_grant")
					case "withdraw":
						g.isDead(a)
						g.isDead(second)
						g.want(g.token(redeemWeb(pending)), 400, "invalid_grant")
						g.isConsent(here.get(authorizeURL(webRequest())))
					default:
						g.isLogin(other.get(accountURL))
						g.account(here)
						g.lives(a)
					}
				}}
			})
		})
	}
}

func TestStoreFaultLosesNoSignOutOfAClient(t *testing.T) { // E05
	sweepFaults(t, func(t *testing.T) sweptStep {
		g := newOpenIDRig(t)
		b := g.signedInAs("ann", "x")
		hint := g.tokensOf(b, rpRequest()).id
		stolen := &tab{g.tokenRig, map[string]string{sessionCookie: b.cookies[sessionCookie], browserCookie: b.browserID()}}
		return sweptStep{g.tokenRig, func() page {
			return b.get(bye(params{"id_token_hint": hint, "post_logout_redirect_uri": rpBye}))
		}, func(p page, _ bool) { g.gone(p, http.StatusFound, rpBye) }, func() { g.isSignedIn(stolen, false) }}
	})
}

// A registration that was acknowledged is there, and one that was not takes no more than a place that is free again soon.
func TestStoreFaultLosesNoRegistration(t *testing.T) { // E05
	request := func(r *registerRig, a registrationAnswer) params {
		return params{"client_id": a.text("client_id"), "redirect_uri": "https://self.example/cb", "response_type": "code", "scope": "read", "state": "S"}
	}
	t.Run("made", func(t *testing.T) {
		sweepFaults(t, func(t *testing.T) sweptStep {
			r := newRegisterRig(t)
			var made registrationAnswer
			return sweptStep{r.tokenRig, func() page { made = r.post(newMeta()); return asPage(made.answer) }, wantPage(t, r.tokenRig, http.StatusCreated), func() {
				shown := r.send(http.MethodGet, made.text("registration_client_uri"), made.text("registration_access_token"), nil)
				r.want(shown.answer, 200, "")
				r.isLogin(r.browser().get(authorizeURL(request(r, made))))
			}}
		})
	})
	t.Run("changed", func(t *testing.T) {
		sweepFaults(t, func(t *testing.T) sweptStep {
			r := newRegisterRig(t)
			made := r.made(newMeta())
			access, address := made.text("registration_access_token"), made.text("registration_client_uri")
			change := newMeta("client_id", made.text("client_id"), "redirect_uris", []string{"https://other.example/cb"})
			return sweptStep{r.tokenRig, func() page { return asPage(r.send(http.MethodPut, address, access, change).answer) }, wantPage(t, r.tokenRig, http.StatusOK), func() {
				r.isError(r.browser().get(authorizeURL(request(r, made))), http.StatusBadRequest)
				r.isLogin(r.browser().get(authorizeURL(request(r, made).with("redirect_uri", "https://other.example/cb"))))
				r.want(r.token(params{"grant_type": "refresh_token", "refresh_token": "x"}, "Authorization", basic(made.text("client_id"), made.text("client_secret"))), 400, "unauthorized_client")
			}}
		})
	})
	t.Run("deleted", func(t *testing.T) {
		sweepFaults(t, func(t *testing.T) sweptStep {
			r := newRegisterRig(t)
			made := r.made(newMeta())
			b := r.browser()
			consent := b.signIn(b.get(authorizeURL(request(r, made))), "ann", annsPassword)
			code := r.issued(b.submit(consent, "decision", "allow"), http.StatusSeeOther)
			as := []string{"Authorization", basic(made.text("client_id"), made.text("client_secret"))}
			a := r.want(r.token(params{"grant_type": "authorization_code", "code": code, "redirect_uri": "https://self.example/cb"}, as...), 200, "")
			r.pass(time.Second)
			access, address := made.text("registration_access_token"), made.text("registration_client_uri")
			return sweptStep{r.tokenRig, func() page { return asPage(r.send(http.MethodDelete, address, access, nil).answer) }, func(p page, again bool) {
				if p.status != http.StatusNoContent && !(again && p.status == http.StatusUnauthorized) { // it is gone
					t.Fatalf("%d %s", p.status, p.body)
				}
			}, func() {
				if r.alive(a.tokens.Access) {
					t.Error("a token of a deleted client lives")
				}
				r.isError(b.get(authorizeURL(request(r, made))), http.StatusBadRequest)
			}}
		})
	})
}

// Whatever the client presents, and whoever it is: a fault is no judgement about it.
func TestStoreFaultIsNoAnswerToAClient(t *testing.T) { // T24
	for name, prepare := range map[string]func(t *testing.T) sweptStep{
		"a password": func(t *testing.T) sweptStep {
			g := newPasswordRig(t)
			return sweptStep{g, func() page { return asPage(g.token(passwordOf("ann", annsPassword))) }, wantPage(t, g, 200), func() {
				if n := g.count(store.KindGrant); n > 2 {
					t.Errorf("%d families", n)
				}
			}}
		},
		"an assertion": func(t *testing.T) sweptStep {
			g, pair := newKeyRig(t)
			return sweptStep{g, func() page { return asPage(g.token(asserting(pair.sign(g.claims("keyed"))))) }, wantPage(t, g, 200), nil}
		},
		"a pushed request": func(t *testing.T) sweptStep {
			g := newBrowserRig(t)
			var last answer
			return sweptStep{g, func() page { last = g.push(webPush()); return asPage(last) }, wantPage(t, g, 201), nil}
		},
		"introspection": func(t *testing.T) sweptStep {
			g := newTokenRig(t)
			a := g.begin()
			return sweptStep{g, func() page { return asPage(g.introspect(asWeb(a.tokens.Refresh))) }, func(p page, _ bool) {
				if p.status != 200 || !strings.Contains(p.body, `"active":true`) {
					t.Fatalf("%d %s", p.status, p.body)
				}
			}, nil}
		},
	} {
		t.Run(name, func(t *testing.T) { sweepFaults(t, prepare) })
	}
}

// Faults take up no places of registrations for good, and none of the attempts that a person has.
func TestManyFaultsExhaustNothing(t *testing.T) {
	t.Run("places of registrations", func(t *testing.T) {
		for n := 1; n <= 6; n++ {
			for after, free := range map[bool]time.Duration{false: 2 * time.Minute, true: 25 * time.Hour} { // some were stored, and nobody uses them
				r := newRegisterRig(t)
				made := false
				for range 60 {
					r.store.plan(n, forever, after, errLost)
					made = r.post(newMeta()).status == http.StatusCreated || made
				}
				r.store.plan(0, 0, false, nil)
				r.pass(free)
				if made { // the fault came after the last operation
					continue
				}
				if a := r.post(newMeta()); a.status != http.StatusCreated {
					t.Errorf("operation %d fails, lost reply %v: then %d %s", n, after, a.status, a.body)
				}
			}
		}
	})
	t.Run("attempts", func(t *testing.T) {
		for n := 1; n <= 6; n++ {
			g := newPasswordRig(t)
			for range 40 {
				g.store.plan(n, forever, false, errLost)
				if a := g.token(passwordOf("ann", annsPassword)); a.status != 503 && a.status != 200 {
					t.Fatalf("operation %d: %d %s", n, a.status, a.body)
				}
			}
			g.store.plan(0, 0, false, nil)
			g.want(g.token(passwordOf("ann", annsPassword)), 200, "")
		}
	})
}
