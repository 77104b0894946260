package authserver_test

import (
	"errors"
	"fmt"
	"net/http"
	"testing"
	"time"

	"github.com/gatehouse/gatehouse/module/internal/audit"
	"github.com/gatehouse/gatehouse/module/internal/authserver"
	"github.com/gatehouse/gatehouse/module/internal/secret"
	"github.com/gatehouse/gatehouse/module/store"
)

func TestEndingAUserEndsSessionsCodesGrantsAndTokens(t *testing.T) { // F10, C12
	g := newEndRig(t)
	one, first := g.tokens("ann", annsPassword)
	two, second := g.tokens("ann", annsPassword)
	_, unredeemed := g.allow(appRequest(), "ann", annsPassword)
	bob, bobs := g.tokens("bob", "y")
	g.endAnn()
	for _, b := range []*tab{one, two} {
		g.isLogin(b.get(authorizeURL(webRequest())))
	}
	g.isDead(first)
	g.isDead(second)
	g.want(g.token(redeemApp(unredeemed)), 400, "invalid_grant")
	g.lives(bobs)
	g.issued(bob.get(authorizeURL(webRequest())), http.StatusFound)
	g.sweep()
	if n := g.count(store.KindSession, "u1") + g.count(store.KindGrant, "u1"); n != 0 {
		t.Errorf("%d sessions and grants are stored", n)
	}
	if all := g.trail.of(audit.SignOutAll); len(all) != 1 || all[0].Subject != "u1" {
		t.Errorf("events %v", all)
	}
	if all := append(g.trail.of(audit.CodeReuse), g.trail.of(audit.RefreshReuse)...); len(all) != 0 {
		t.Errorf("an ended code or grant is no replay: %v", all)
	}
	// What was allowed is remembered; only signing in is due, and what it gives lives.
	fresh := one.signIn(one.get(authorizeURL(webRequest())), "ann", annsPassword)
	g.lives(g.want(g.token(redeemWeb(g.issued(fresh, http.StatusSeeOther))), 200, ""))
}

// A sign-in of the same second and even of the same moment as the end is not confused with
// one of before: epochs are compared and no clocks.
func TestSignInRightAfterAnEndGetsLiveTokens(t *testing.T) { // N02
	g := newEndRig(t)
	b, before := g.tokens("ann", annsPassword)
	login := g.browser().get(authorizeURL(webRequest()))
	g.endAnn()
	g.isDead(before)
	_, fresh := g.tokens("ann", annsPassword)
	g.lives(fresh)
	g.isLogin(b.get(authorizeURL(webRequest())))
	g.isLogin(login) // the page of before still signs in
}

func TestEndingAConsentEndsOnlyItsCodesAndGrants(t *testing.T) { // C12, F10
	g := newEndRig(t)
	b, webs := g.tokens("ann", annsPassword)
	code := g.issued(b.get(authorizeURL(webRequest())), http.StatusFound)
	app := g.issued(b.submit(b.get(authorizeURL(appRequest())), "decision", "allow"), http.StatusSeeOther)
	_, bobs := g.tokens("bob", "y")
	g.must(g.server.EndClient(t.Context(), "u1", "web"))
	g.isDead(webs)
	g.want(g.token(redeemWeb(code)), 400, "invalid_grant")
	g.isConsent(b.get(authorizeURL(webRequest()))) // still signed in, and asked again
	g.want(g.token(redeemApp(app)), 200, "")
	g.issued(b.get(authorizeURL(appRequest())), http.StatusFound)
	g.lives(bobs)
}

func TestForgottenUserLeavesNoRecords(t *testing.T) {
	g := newEndRig(t)
	_, a := g.tokens("ann", annsPassword)
	g.tokens("bob", "y")
	g.must(g.server.ForgetSubject(t.Context(), "u1"))
	g.isDead(a)
	for subject, want := range map[string]int{"u1": 0, "u2": 1} {
		if n := g.count(store.KindConsent, subject); n != want {
			t.Errorf("%d consents of %s", n, subject)
		}
	}
}

func TestEndingAGrantEndsOnlyIt(t *testing.T) {
	g := newEndRig(t)
	_, first := g.tokens("ann", annsPassword)
	all, err := g.store.List(t.Context(), store.KindGrant, "u1", "", 10)
	g.must(err)
	_, second := g.tokens("ann", annsPassword)
	for _, foreign := range [][2]string{{"u2", all[0].ID}, {"u1", "unknown"}} {
		g.must(g.server.EndGrant(t.Context(), foreign[0], foreign[1]))
	}
	first = g.want(g.token(refreshWeb(first.tokens.Refresh)), 200, "")
	for range 2 {
		g.must(g.server.EndGrant(t.Context(), "u1", all[0].ID))
	}
	g.isDead(first)
	g.lives(second)

}

// A token lives as long as the configuration allowed that issued it, not the one of today.
func TestRevocationCoversTokensOfALongerLifetime(t *testing.T) {
	var c authserver.Config
	g := newEndRig(t, func(now *authserver.Config) { c = *now })
	_, a := g.tokens("ann", annsPassword)
	all, err := g.store.List(t.Context(), store.KindGrant, "u1", "", 10)
	g.must(err)
	c.Lifetimes.Access, c.TokenLife = time.Minute, func() time.Duration { return time.Hour }
	reloaded, err := authserver.New(c)
	g.must(err)
	g.pass(10 * time.Minute)
	if !g.alive(a.tokens.Access) {
		t.Fatal("the token is to live for an hour")
	}
	g.must(reloaded.EndGrant(t.Context(), "u1", all[0].ID))
	g.isDead(a)
}

func TestResubmittedFormCannotReissueAnEndedCode(t *testing.T) {
	g := newEndRig(t)
	b := g.browser()
	consent := b.consentPage(webRequest())
	code := g.issued(b.submit(consent, "decision", "allow"), http.StatusSeeOther)
	g.must(g.server.EndClient(t.Context(), "u1", "web"))
	again := b.submit(consent, "decision", "allow")
	g.isConsent(again) // the permission was taken back
	g.isError(b.submit(again, "decision", "allow"), http.StatusBadRequest)
	g.want(g.token(redeemWeb(code)), 400, "invalid_grant")
}

func TestEmptyNamesCannotBeEnded(t *testing.T) {
	g := newEndRig(t)
	for _, err := range []error{
		g.server.EndSubject(t.Context(), ""), g.server.ForgetSubject(t.Context(), ""), g.server.EndGrant(t.Context(), "u1", ""), g.server.EndGrant(t.Context(), "", "g"),
		g.server.EndClient(t.Context(), "u1", ""), g.server.EndClient(t.Context(), "", "web"),
	} {
		if err == nil {
			t.Error("an empty name was taken")
		}
	}
}

// putGrants stores so many families of ann, which were last used at a moment.
func (g *endRig) putGrants(n int, used time.Time) {
	g.t.Helper()
	for range n {
		v := store.Grant{ID: secret.ID(), Dialect: store.DialectOAuth, Client: "web", Subject: "u1", IssuedAt: used.Add(-24 * time.Hour), RotatedAt: used,
			Expires: g.now().Add(24 * time.Hour), Generation: 1, Scopes: []string{"read"}}
		_, err := g.store.Create(g.t.Context(), store.Record{
			Key: store.Key{Kind: store.KindGrant, ID: v.ID}, Parent: "u1", Value: must(store.Encode(&v)), Expires: v.Expires,
		})
		g.must(err)
	}
}

func TestEndingManyGrantsTakesFewWritesAndOneNotice(t *testing.T) {
	g := newEndRig(t, func(c *authserver.Config) { c.Lifetimes.VariantB = time.Hour })
	g.putGrants(345, g.now().Add(-59*time.Minute))
	g.cut.arm(0, nil)
	g.endAnn()
	if g.cut.ops > 10 {
		t.Errorf("%d operations on the store", g.cut.ops)
	}
	dead := 0
	g.eachGrantOf("u1", func(v store.Grant) {
		if g.dead(v) {
			dead++
		}
	})
	if dead != 345 {
		t.Errorf("%d of 345 are dead", dead)
	}
	notices, err := g.store.List(t.Context(), store.KindRevocation, store.RevocationParent, "", 1000)
	g.must(err)
	if len(notices) != 1 { // every guard keeps every notice
		t.Errorf("%d notices", len(notices))
	}
}

func (g *endRig) eachGrantOf(subject string, f func(store.Grant)) {
	g.t.Helper()
	all, err := g.store.List(g.t.Context(), store.KindGrant, subject, "", 10_000)
	g.must(err)
	for _, rec := range all {
		var v store.Grant
		g.must(store.Decode(rec.Value, &v))
		f(v)
	}
}

func TestRecordOfANewerReleaseDoesNotStopTheEnd(t *testing.T) {
	g := newEndRig(t)
	_, a := g.tokens("ann", annsPassword)
	for _, id := range []string{"!", "~"} { // before and behind the others
		for _, kind := range []store.Kind{store.KindGrant, store.KindCode} {
			_, err := g.store.Create(t.Context(), store.Record{Key: store.Key{Kind: kind, ID: id}, Parent: "u1", Value: []byte(`{"v":9}`)})
			g.must(err)
		}
	}
	g.endAnn()
	g.isDead(a)
	g.sweep()
	if n := g.count(store.KindSession, "u1"); n != 0 {
		t.Errorf("%d sessions", n)
	}
}

// TestEndInterruptedByTheStoreCanBeRepeated has each operation of an end fail in turn.
func TestEndInterruptedByTheStoreCanBeRepeated(t *testing.T) {
	for name, end := range map[string]func(*endRig) error{
		"user":   func(g *endRig) error { return g.server.EndSubject(g.t.Context(), "u1") },
		"client": func(g *endRig) error { return g.server.EndClient(g.t.Context(), "u1", "web") },
	} {
		for n, more := 1, true; more && !t.Failed(); n++ {
			t.Run(fmt.Sprint(name, " ", n), func(t *testing.T) {
				more = false
				g := newEndRig(t)
				b, a := g.tokens("ann", annsPassword)
				code := g.issued(b.get(authorizeURL(webRequest())), http.StatusFound)
				g.revoker.through = g.store
				g.store.plan(n, n, n%2 == 0, errLost)
				err := end(g)
				more = n <= len(g.store.done())
				g.store.plan(0, 0, false, nil)
				if more && !errors.Is(err, errLost) {
					t.Fatalf("%v: the fault was not told", err)
				}
				if err != nil {
					g.must(end(g))
				}
				g.isDead(a)
				g.want(g.token(redeemWeb(code)), 400, "invalid_grant")
			})
		}
	}
	g := newEndRig(t)
	g.revoker.fault = errLost
	_, a := g.tokens("ann", annsPassword)
	if err := g.server.EndSubject(t.Context(), "u1"); !errors.Is(err, errLost) {
		t.Error(err)
	}
	if len(g.trail.of(audit.SignOutAll)) != 0 {
		t.Error("an end that was none is in the trail")
	}
	g.revoker.fault = nil
	g.endAnn()
	g.isDead(a)
}

func TestUserIsLimitedToAHundredSessions(t *testing.T) { // U26
	g := newEndRig(t, func(c *authserver.Config) { c.Protect.PerAddress = 1000 })
	var tabs []*tab
	for range 103 {
		g.pass(time.Second)
		b := g.browser()
		if p := b.signIn(b.get(tokenIssuer+"/login"), "ann", annsPassword); p.status != http.StatusSeeOther {
			t.Fatal(p.status)
		}
		tabs = append(tabs, b)
		if len(tabs) == 50 { // the first one was used since
			g.pass(2 * time.Minute)
			g.isConsent(tabs[0].get(authorizeURL(webRequest())))
		}
	}
	if n := g.count(store.KindSession, "u1"); n != 100 {
		t.Errorf("%d sessions", n)
	}
	for i, b := range tabs {
		p := b.get(authorizeURL(webRequest()))
		if ended := i >= 1 && i <= 3; ended {
			g.isLogin(p) // those that were not used for longest
		} else {
			g.isConsent(p)
		}
	}
}
