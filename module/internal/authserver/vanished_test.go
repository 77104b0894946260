package authserver_test

import (
	"testing"
	"time"

	"github.com/gatehouse/gatehouse/module/oauth"
	"github.com/gatehouse/gatehouse/module/store"
)

func TestReturningClientStartsWithoutOldGrants(t *testing.T) {
	for name, leave := range map[string]func(g *tokenRig){
		"configured": func(g *tokenRig) { g.must(store.RecordVanished(g.t.Context(), g.store, "web", g.now())) },
		"stored": func(g *tokenRig) {
			g.clients.change("web", func(c *oauth.Client) { c.Since = g.now().Add(time.Nanosecond) })
		},
	} {
		t.Run(name, func(t *testing.T) {
			g := newTokenRig(t)
			a, code := g.begin(), g.code()
			g.active(g.introspect(asWeb(a.tokens.Refresh)))
			leave(g)
			g.inactive(g.introspect(asWeb(a.tokens.Refresh)))
			g.want(g.token(refreshWeb(a.tokens.Refresh)), 400, "invalid_grant")
			if name == "stored" {
				g.want(g.token(redeemWeb(code)), 400, "invalid_grant")
			}
			g.pass(time.Second)
			fresh := g.begin()
			g.want(g.token(refreshWeb(fresh.tokens.Refresh)), 200, "")
			g.active(g.introspect(asWeb(fresh.tokens.Refresh)))
			g.revoked(g.revoke(asWeb(a.tokens.Refresh))) // whatever it is, its end may be asked for
		})
	}
	g := newTokenRig(t)
	a := g.begin()
	g.store.plan(2, 2, false, errLost) // the question about the client
	g.want(g.token(refreshWeb(a.tokens.Refresh)), 503, "temporarily_unavailable")
	g.store.plan(0, 0, false, nil)
	g.want(g.token(refreshWeb(a.tokens.Refresh)), 200, "")
}
