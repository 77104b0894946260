package authserver_test

import (
	"errors"
	"fmt"
	"testing"

	"github.com/gatehouse/gatehouse/module/internal/authserver"
)

var errLost = errors.New("connection reset")

const forever = 1 << 30

// eachFault runs a request with every single operation of the store failing in turn,
// alone or with all that follow, before or after it took effect. The request must
// answer 200 or 503, and its repetition on the healed store 200.
func eachFault(t *testing.T, change func(*authserver.Config), prepare func(*tokenRig) params, after func(*tokenRig, params, answer)) {
	for _, lost := range []bool{false, true} {
		for _, all := range []bool{false, true} {
			for n, more := 1, true; more && !t.Failed(); n++ {
				t.Run(fmt.Sprintf("operation %d, lost reply %v, all that follow %v", n, lost, all), func(t *testing.T) {
					g := newTokenRig(t, change)
					p := prepare(g)
					last := n
					if all {
						last = forever
					}
					g.store.plan(n, last, lost, errLost)
					a := g.token(p)
					more = n <= len(g.store.done()) // else the fault came after the last one
					g.store.plan(0, 0, false, nil)
					if a.status != 200 {
						g.want(a, 503, "temporarily_unavailable")
						a = g.token(p)
					}
					g.want(a, 200, "")
					if !g.alive(a.tokens.Access) {
						t.Fatal("the access token is dead")
					}
					after(g, p, a)
				})
			}
		}
	}
}

func TestStoreFaultNeitherLosesNorDoublesACode(t *testing.T) { // T24, E05
	eachFault(t, func(*authserver.Config) {},
		func(g *tokenRig) params { return redeemWeb(g.code()) },
		func(g *tokenRig, p params, a answer) {
			g.want(g.token(p), 400, "invalid_grant")
			if g.alive(a.tokens.Access) {
				g.t.Error("the replay killed nothing")
			}
		})
}

func TestStoreFaultLosesNoRefreshToken(t *testing.T) { // T24, E03, F13
	eachFault(t, func(*authserver.Config) {},
		func(g *tokenRig) params { return refreshWeb(g.begin().tokens.Refresh) },
		func(g *tokenRig, p params, a answer) {
			g.want(g.token(refreshWeb(a.tokens.Refresh)), 200, "")
		})
}

func TestLostReplyWithoutGraceIsRecognized(t *testing.T) { // F06, F13
	g := newTokenRig(t, func(c *authserver.Config) { c.Lifetimes.RefreshGrace = 0 })
	first := g.begin()
	g.store.LoseReply(errLost)
	second := g.want(g.token(refreshWeb(first.tokens.Refresh)), 200, "")
	if !g.alive(second.tokens.Access) {
		t.Error("the family is dead")
	}
	g.want(g.token(refreshWeb(second.tokens.Refresh)), 200, "")
}

func TestUncertainRevocationIs503AndRepeatable(t *testing.T) { // C02, F02
	for name, c := range map[string]struct{ fail, heal func(*tokenRig) }{
		"the guards cannot be told": {
			func(g *tokenRig) { g.revoker.fault = errLost }, func(g *tokenRig) { g.revoker.fault = nil }},
		"the record cannot be written": {
			func(g *tokenRig) { g.store.plan(3, 3, false, errLost) }, func(g *tokenRig) { g.store.plan(0, 0, false, nil) }},
	} {
		t.Run(name, func(t *testing.T) {
			g := newTokenRig(t)
			code := redeemWeb(g.code())
			first := g.want(g.token(code), 200, "")
			second := g.want(g.token(refreshWeb(first.tokens.Refresh)), 200, "")
			third := g.want(g.token(refreshWeb(second.tokens.Refresh)), 200, "")
			for _, replay := range []params{code, refreshWeb(first.tokens.Refresh)} {
				c.fail(g)
				g.want(g.token(replay), 503, "temporarily_unavailable")
				c.heal(g)
			}
			g.want(g.token(refreshWeb(first.tokens.Refresh)), 400, "invalid_grant")
			if g.alive(third.tokens.Access) {
				t.Error("the access token lives")
			}
			g.want(g.token(refreshWeb(third.tokens.Refresh)), 400, "invalid_grant")
		})
	}
}
