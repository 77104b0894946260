package authserver_test

import (
	"testing"
	"time"

	"github.com/gatehouse/gatehouse/module/internal/authserver"
	"github.com/gatehouse/gatehouse/module/oauth"
)

func TestRefreshRotates(t *testing.T) { // F01
	g := newTokenRig(t)
	first := g.begin()
	second := g.want(g.token(refreshWeb(first.tokens.Refresh)), 200, "")
	if second.tokens.Refresh == first.tokens.Refresh || second.tokens.Access == first.tokens.Access || second.tokens.Scope != "read write" {
		t.Fatal(second.body)
	}
	if !g.alive(first.tokens.Access) { // pinned: a rotation ends no access token
		t.Error("the old access token is dead")
	}
	if g.metrics.last() != "refresh_token issued" {
		t.Error(g.metrics.last())
	}
}

func TestReplacedTokenWorksInTheGraceAndRevokesAfterIt(t *testing.T) { // F02, F03
	g := newTokenRig(t)
	first := g.begin()
	second := g.want(g.token(refreshWeb(first.tokens.Refresh)), 200, "")
	g.pass(10*time.Second - time.Nanosecond)
	again := g.want(g.token(refreshWeb(first.tokens.Refresh)), 200, "")
	if again.tokens.Refresh != second.tokens.Refresh || again.tokens.Access == second.tokens.Access {
		t.Error("not the same successor with a fresh access token")
	}
	g.pass(time.Nanosecond)
	g.want(g.token(refreshWeb(first.tokens.Refresh)), 400, "invalid_grant")
	for _, a := range []answer{first, second, again} {
		if g.alive(a.tokens.Access) {
			t.Error("an access token of the family lives")
		}
	}
	g.want(g.token(refreshWeb(second.tokens.Refresh)), 400, "invalid_grant")
}

func TestOlderRefreshTokenRevokesEvenInTheGrace(t *testing.T) { // F02
	g := newTokenRig(t)
	first := g.begin()
	second := g.want(g.token(refreshWeb(first.tokens.Refresh)), 200, "")
	third := g.want(g.token(refreshWeb(second.tokens.Refresh)), 200, "")
	g.want(g.token(refreshWeb(first.tokens.Refresh)), 400, "invalid_grant")
	g.want(g.token(refreshWeb(third.tokens.Refresh)), 400, "invalid_grant")
}

func TestRefreshTokenIsBoundToItsClient(t *testing.T) { // F07
	g := newTokenRig(t)
	first := g.begin()
	g.store.plan(0, 0, false, nil)
	g.want(g.token(refreshWeb(first.tokens.Refresh).with("client_id", "app").with("client_secret", "")), 400, "invalid_grant")
	if ops := g.store.done(); len(ops) != 0 {
		t.Errorf("the store was asked for a token that is not authentic: %v", ops)
	}
	g.want(g.token(refreshWeb(first.tokens.Refresh)), 200, "")
}

func TestMalformedRefreshTokensNeverReachTheStore(t *testing.T) {
	g := newTokenRig(t)
	good := g.begin().tokens.Refresh
	g.store.plan(0, 0, false, nil)
	flipped := []byte(good)
	for i := range flipped {
		old := flipped[i]
		if flipped[i] = 'A'; old == 'A' {
			flipped[i] = 'B'
		}
		g.want(g.token(refreshWeb(string(flipped))), 400, "invalid_grant")
		flipped[i] = old
	}
	for _, bad := range []string{good[1:], good + "A", good + "=", "!", good + good} {
		g.want(g.token(refreshWeb(bad)), 400, "invalid_grant")
	}
	g.want(g.token(refreshWeb("")), 400, "invalid_request")
	if ops := g.store.done(); len(ops) != 0 {
		t.Errorf("the store was asked: %v", ops)
	}
}

func TestIdleAndAbsoluteExpiry(t *testing.T) { // F09
	day := 24 * time.Hour
	g := newTokenRig(t)
	last := g.begin()
	g.pass(14*day - time.Nanosecond)
	last = g.want(g.token(refreshWeb(last.tokens.Refresh)), 200, "")
	g.pass(14 * day)
	g.want(g.token(refreshWeb(last.tokens.Refresh)), 400, "invalid_grant")

	last = g.begin()
	for range 2 {
		g.pass(10 * day)
		last = g.want(g.token(refreshWeb(last.tokens.Refresh)), 200, "")
	}
	g.pass(10*day - time.Nanosecond)
	last = g.want(g.token(refreshWeb(last.tokens.Refresh)), 200, "")
	g.pass(time.Nanosecond)
	g.want(g.token(refreshWeb(last.tokens.Refresh)), 400, "invalid_grant")
}

func TestLockedOrDeletedUserCannotRefresh(t *testing.T) { // F10
	for name, change := range map[string]func(*tokenRig){
		"locked": func(g *tokenRig) { g.users.SetLocked("u1", true) },
		"gone":   func(g *tokenRig) { g.users.Remove("u1") },
	} {
		t.Run(name, func(t *testing.T) {
			g := newTokenRig(t)
			first := g.begin()
			change(g)
			g.want(g.token(refreshWeb(first.tokens.Refresh)), 400, "invalid_grant")
			if g.alive(first.tokens.Access) {
				t.Error("the access token lives")
			}
			if name == "locked" {
				g.users.SetLocked("u1", false)
				g.want(g.token(refreshWeb(first.tokens.Refresh)), 400, "invalid_grant")
			}
		})
	}
}

func TestClientWithoutRefreshGrantCannotRefresh(t *testing.T) { // F12
	g := newTokenRig(t)
	first := g.begin()
	g.clients.change("web", func(c *oauth.Client) { c.Grants = []oauth.GrantType{oauth.AuthorizationCode} })
	g.want(g.token(refreshWeb(first.tokens.Refresh)), 400, "unauthorized_client")
	g.clients.change("web", func(c *oauth.Client) { c.Grants = oauth.GrantTypes })
	g.want(g.token(refreshWeb(first.tokens.Refresh)), 200, "")
}

func TestScopesNarrowTheAccessTokenOnly(t *testing.T) {
	g := newTokenRig(t)
	a := g.begin()
	for _, c := range []struct{ ask, got string }{
		{"read", "read"}, {"", "read write"}, {"write read", "write read"}, {"", "read write"},
	} {
		a = g.want(g.token(refreshWeb(a.tokens.Refresh).with("scope", c.ask)), 200, "")
		if a.tokens.Scope != c.got {
			t.Errorf("asked for %q, got %q", c.ask, a.tokens.Scope)
		}
	}
	g.want(g.token(refreshWeb(a.tokens.Refresh).with("scope", "read inner")), 400, "invalid_scope")
	g.want(g.token(refreshWeb(a.tokens.Refresh).with("scope", "\\")), 400, "invalid_scope")

	scopes := func(s ...string) {
		g.clients.change("web", func(c *oauth.Client) { c.Scopes, c.DefaultScopes = s, nil })
	}
	scopes("write")
	g.want(g.token(refreshWeb(a.tokens.Refresh).with("scope", "read")), 400, "invalid_scope")
	if a = g.want(g.token(refreshWeb(a.tokens.Refresh)), 200, ""); a.tokens.Scope != "write" {
		t.Error(a.tokens.Scope)
	}
	scopes()
	g.want(g.token(refreshWeb(a.tokens.Refresh)), 400, "invalid_grant")
	scopes("read", "write")
	if a = g.want(g.token(refreshWeb(a.tokens.Refresh)), 200, ""); a.tokens.Scope != "read write" {
		t.Error("what the user gave was forgotten: " + a.tokens.Scope)
	}
}

func TestSecondUseWithoutGraceEndsTheGrant(t *testing.T) { // F06
	g := newTokenRig(t, func(c *authserver.Config) { c.Lifetimes.RefreshGrace = 0 })
	first := g.begin()
	second := g.want(g.token(refreshWeb(first.tokens.Refresh)), 200, "")
	g.want(g.token(refreshWeb(first.tokens.Refresh)), 400, "invalid_grant")
	g.want(g.token(refreshWeb(second.tokens.Refresh)), 400, "invalid_grant")
	if g.alive(second.tokens.Access) {
		t.Error("the family lives")
	}
}
