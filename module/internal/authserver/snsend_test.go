package authserver_test

import (
	"testing"
	"time"

	"github.com/gatehouse/gatehouse/module/directory/directorytest"
	"github.com/gatehouse/gatehouse/module/internal/authserver"
	"github.com/gatehouse/gatehouse/module/oauth"
	"github.com/gatehouse/gatehouse/module/store"
)

func (g *endRig) people() *directorytest.Memory { return g.server.Directory.(*directorytest.Memory) }

func TestVariantBGrantIsListedUntilItExpires(t *testing.T) {
	g := newEndRig(t, func(c *authserver.Config) {
		c.Lifetimes.Session, c.Lifetimes.SessionIdle = 90*24*time.Hour, 90*24*time.Hour
	})
	wx(g.tokenRig)
	a := g.sns("oauth2/access_token", exchangeWX(g.snsCode()))
	b := g.browser()
	b.signIn(b.get(accountURL), "ann", annsPassword)
	for _, c := range []struct {
		days int
		want int
	}{{0, 1}, {20, 1}, {11, 0}} { // OAuth's families end when they are idle for two weeks
		g.pass(time.Duration(c.days) * 24 * time.Hour)
		if n := len(g.account(b).buttons("withdraw")); n != c.want {
			t.Errorf("after %d days more: %d applications, %d %s", c.days, n, a.status, a.body)
		}
	}
}

// The notice that ends a family is kept only while a token of it can be alive, and one of
// a refresh just now is, however long ago the user signed in.
func TestVariantBRefreshedTokenEndsWithItsGrant(t *testing.T) {
	g := newEndRig(t)
	wx(g.tokenRig)
	first := g.sns("oauth2/access_token", exchangeWX(g.snsCode()))
	if first.Expires != 7200 {
		t.Errorf("%s", first.body)
	}
	g.pass(9 * 24 * time.Hour)
	next := g.sns("oauth2/refresh_token", refreshWX(first.Refresh))
	if next.status != 200 || next.Refresh != first.Refresh || !g.alive(next.Access) {
		t.Fatalf("%d %s", next.status, next.body)
	}
	g.must(g.server.EndClient(t.Context(), "u1", "wx"))
	if g.alive(next.Access) {
		t.Error("the access token lives")
	}
	if again := g.sns("oauth2/refresh_token", refreshWX(first.Refresh)); again.Errcode != 40030 {
		t.Errorf("%d %s", again.status, again.body)
	}
}

func TestForgottenUsersOpenIDsAreDeleted(t *testing.T) {
	g := newEndRig(t)
	wx(g.tokenRig)
	a := g.sns("oauth2/access_token", exchangeWX(g.snsCode()))
	if n := g.count(store.KindPairwise, "u1"); n != 2 {
		t.Fatalf("%d names: %s", n, a.body)
	}
	g.must(g.server.ForgetSubject(t.Context(), "u1"))
	if n := g.count(store.KindPairwise, "u1"); n != 0 {
		t.Errorf("%d names are left", n)
	}
}

// Whoever ends what a user has, and how: a site is told the same numbers.
func TestEndedGrantsAreInvalidInVariantB(t *testing.T) {
	for name, c := range map[string]struct {
		end  func(*endRig, *tab)
		dies bool // also the access tokens that guards are shown
	}{
		"sign-out everywhere":           {func(g *endRig, _ *tab) { g.endAnn() }, true},
		"the button for everything":     {func(g *endRig, b *tab) { b.submit(g.account(b), "all", "everything") }, true},
		"the button of the application": {func(g *endRig, b *tab) { p := g.account(b); b.submit(p, "withdraw", p.buttons("withdraw")[0]) }, true},
		"the user is forgotten":         {func(g *endRig, _ *tab) { g.must(g.server.ForgetSubject(g.t.Context(), "u1")) }, true},
		"the user is locked":            {func(g *endRig, _ *tab) { g.people().SetLocked("u1", true) }, false},
		"the user is gone":              {func(g *endRig, _ *tab) { g.people().Remove("u1") }, false},
		"the application is gone":       {func(g *endRig, _ *tab) { g.clients.change("wx", func(c *oauth.Client) { c.VariantB = false }) }, false},
		"the application has no scope":  {func(g *endRig, _ *tab) { g.clients.change("wx", func(c *oauth.Client) { c.Scopes = []string{"read"} }) }, false},
	} {
		t.Run(name, func(t *testing.T) {
			g := newEndRig(t)
			wx(g.tokenRig)
			a := g.snsSignIn()
			b := g.browser()
			b.signIn(b.get(accountURL), "ann", annsPassword)
			if g.pass(time.Minute); !g.alive(a.Access) {
				t.Fatal("no token to end")
			}
			unused := g.snsCode()
			c.end(g, b)
			code, refresh, asks := "400 invalid_grant code 40029", "400 invalid_grant refresh_token 40030", "401 invalid_token access_token 40001"
			if name == "the application is gone" {
				code, refresh = "401 invalid_client appid 40013", "401 invalid_client appid 40013"
			}
			// A refresh that is refused ends more, so it comes last.
			if name != "the application has no scope" { // what was issued before is what it is
				g.wantSNS(g.sns("auth", a.asks()), asks)
				g.wantSNS(g.sns("userinfo", a.asks()), asks)
			}
			g.wantSNS(g.sns("oauth2/access_token", exchangeWX(unused)), code)
			g.wantSNS(g.sns("oauth2/refresh_token", refreshWX(a.Refresh)), refresh)
			if c.dies && g.alive(a.Access) {
				t.Error("a guard takes the access token")
			}
		})
	}
}

// Who was locked when a site refreshed has to sign in again: the grant is dead.
func TestVariantBRefreshByALockedUserEndsTheGrant(t *testing.T) {
	g := newEndRig(t)
	wx(g.tokenRig)
	a := g.snsSignIn()
	g.people().SetLocked("u1", true)
	g.wantSNS(g.sns("oauth2/refresh_token", refreshWX(a.Refresh)), "400 invalid_grant refresh_token 40030")
	g.people().SetLocked("u1", false)
	g.wantSNS(g.sns("oauth2/refresh_token", refreshWX(a.Refresh)), "400 invalid_grant refresh_token 40030")
	if g.alive(a.Access) {
		t.Error("a guard takes the access token")
	}
}
