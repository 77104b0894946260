package authserver_test

import (
	"testing"
	"time"
)

// A node whose clock is five minutes ahead issued the token. Its revocation here is remembered as long as it lives.
func TestEndFromANodeAheadLastsAsLongAsItsTokens(t *testing.T) {
	for name, end := range map[string]func(g *tokenRig, code string, a answer){
		"revoked": func(g *tokenRig, _ string, a answer) {
			g.want(g.do("POST", tokenIssuer+"/revoke", params{"token": a.tokens.Refresh, "client_id": "web", "client_secret": webSecret}.encode()), 200, "")
		},
		"replayed": func(g *tokenRig, code string, _ answer) { g.want(g.token(redeemWeb(code)), 400, "invalid_grant") },
	} {
		t.Run(name, func(t *testing.T) {
			const ahead = 5 * time.Minute
			g := newTokenRig(t)
			g.pass(ahead)
			code := g.code()
			a := g.want(g.token(redeemWeb(code)), 200, "")
			g.pass(-ahead)
			end(g, code, a)
			g.pass(time.Duration(a.tokens.Expires)*time.Second + ahead - time.Minute) // it lives for a minute more
			other := g.begin()
			g.want(g.do("POST", tokenIssuer+"/revoke", params{"token": other.tokens.Refresh, "client_id": "web", "client_secret": webSecret}.encode()), 200, "") // forgets what has expired
			if g.alive(a.tokens.Access) {
				t.Error("the access token is alive again")
			}
		})
	}
}

// By the clock of the node that is asked, the token has just expired; by that of another it lives a little longer.
func TestRevocationAtANodeAheadEndsTokensThatLiveElsewhere(t *testing.T) {
	const ahead, left = 30 * time.Second, 10 * time.Second
	n := newNodes(t)
	a := n[0].begin()
	n[0].pass(time.Duration(a.tokens.Expires)*time.Second - left)
	n[1].pass(time.Duration(a.tokens.Expires)*time.Second - left + ahead)
	if n[1].alive(a.tokens.Access) || !n[0].alive(a.tokens.Access) {
		t.Fatal("expected the token to be expired at one node only")
	}
	n[1].want(n[1].do("POST", tokenIssuer+"/revoke", params{"token": a.tokens.Access, "client_id": "web", "client_secret": webSecret}.encode()), 200, "")
	n.dies(a.tokens.Access)
}
