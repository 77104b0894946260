package authserver_test

import (
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gatehouse/gatehouse/module/store"
)

func (g *tokenRig) revoke(p params, header ...string) answer {
	return g.do(http.MethodPost, tokenIssuer+"/revoke", p.encode(), header...)
}

// flipped is another string of the same form.
func flipped(token string) string {
	if token[0] == 'A' {
		return "B" + token[1:]
	}
	return "A" + token[1:]
}

func asWeb(token string) params {
	return params{"token": token, "client_id": "web", "client_secret": webSecret}
}

// revoked checks the answer of a successful revocation.
func (g *tokenRig) revoked(a answer) {
	g.t.Helper()
	if a.status != 200 || a.body != "{}" || a.header.Get("Cache-Control") != "no-store" || !strings.HasPrefix(a.header.Get("Content-Type"), "application/json") {
		g.t.Fatalf("%d %q %v", a.status, a.body, a.header)
	}
}

func TestRevokingARefreshTokenEndsItsGrant(t *testing.T) { // V01
	g := newTokenRig(t)
	first := g.begin()
	second := g.want(g.token(refreshWeb(first.tokens.Refresh)), 200, "")
	other := g.begin()
	g.revoked(g.revoke(asWeb(second.tokens.Refresh)))
	if g.metrics.last() != "revoke revoked" {
		t.Error(g.metrics.last())
	}
	for _, a := range []answer{first, second} {
		if g.alive(a.tokens.Access) {
			t.Error("an access token lives")
		}
		g.want(g.token(refreshWeb(a.tokens.Refresh)), 400, "invalid_grant")
	}
	if !g.alive(other.tokens.Access) {
		t.Error("another grant died")
	}
	g.want(g.token(refreshWeb(other.tokens.Refresh)), 200, "")
}

func TestRevokingAnOldRefreshTokenEndsTheGrant(t *testing.T) {
	g := newTokenRig(t)
	first := g.begin()
	second := g.want(g.token(refreshWeb(first.tokens.Refresh)), 200, "")
	third := g.want(g.token(refreshWeb(second.tokens.Refresh)), 200, "")
	g.pass(11e9)
	g.revoked(g.revoke(asWeb(first.tokens.Refresh)))
	if g.alive(third.tokens.Access) {
		t.Error("the access token lives")
	}
	g.want(g.token(refreshWeb(third.tokens.Refresh)), 400, "invalid_grant")
}

func TestRevokingAnAccessTokenRevokesOnlyIt(t *testing.T) { // V02
	g := newTokenRig(t)
	first := g.begin()
	second := g.want(g.token(refreshWeb(first.tokens.Refresh)), 200, "")
	for _, hint := range []string{"", "access_token", "refresh_token", "nonsense"} {
		third := g.want(g.token(refreshWeb(second.tokens.Refresh)), 200, "")
		g.revoked(g.revoke(asWeb(third.tokens.Access).with("token_type_hint", hint)))
		if g.alive(third.tokens.Access) || !g.alive(second.tokens.Access) {
			t.Errorf("hint %q: not that one alone", hint)
		}
	}
	g.want(g.token(refreshWeb(second.tokens.Refresh)), 200, "")
}

// A node whose clock is behind refuses such a token as not yet valid, and the other nodes accept it.
func TestTokenFromANodeWithAFastClockIsRevoked(t *testing.T) {
	for _, behind := range []time.Duration{59 * time.Second, 5 * time.Minute, 2 * time.Hour} {
		g := newTokenRig(t)
		first := g.begin()
		g.pass(-behind)
		g.want(g.revoke(params{"token": first.tokens.Access, "client_id": "app"}), 400, "unauthorized_client")
		g.revoked(g.revoke(asWeb(first.tokens.Access)))
		if got := g.metrics.last(); got != "revoke revoked" {
			t.Errorf("%v behind: %s", behind, got)
		}
		g.pass(behind)
		if g.alive(first.tokens.Access) {
			t.Errorf("%v behind: the token lives", behind)
		}
		g.pass(59 * time.Minute) // of the hour that it has
		if g.alive(first.tokens.Access) {
			t.Errorf("%v behind: the token lives again before it expires", behind)
		}
	}
}

func TestRevokingAnInvalidTokenRevokesNothing(t *testing.T) { // V03
	g := newTokenRig(t)
	a := g.begin()
	code := g.code()
	revokedAccess, revokedRefresh := g.begin(), g.begin()
	g.revoked(g.revoke(asWeb(revokedAccess.tokens.Access)))
	g.revoked(g.revoke(asWeb(revokedRefresh.tokens.Refresh)))
	for name, token := range map[string]string{
		"rubbish": "x", "dots": "a.b.c", "as long as a refresh token": strings.Repeat("A", 75), "a code": code,
		"a part": a.tokens.Refresh[:74], "changed": flipped(a.tokens.Refresh), "another mac": a.tokens.Refresh[:70] + "AAAAA",
		"bad signature": a.tokens.Access[:len(a.tokens.Access)-4] + "AAAA", "long": strings.Repeat("x", 50_000),
		"revoked access": revokedAccess.tokens.Access, "revoked refresh": revokedRefresh.tokens.Refresh,
	} {
		t.Run(name, func(t *testing.T) {
			g.revoked(g.revoke(asWeb(token)))
			if g.metrics.last() != "revoke nothing" {
				t.Error(g.metrics.last())
			}
		})
	}
	g.want(g.token(redeemWeb(code)), 200, "")
	if !g.alive(a.tokens.Access) {
		t.Error("a token died")
	}
	g.want(g.token(refreshWeb(a.tokens.Refresh)), 200, "")
	g.pass(2 * 3600e9)
	g.revoked(g.revoke(asWeb(a.tokens.Access)))
	g.pass(31 * 24 * 3600e9)
	g.revoked(g.revoke(asWeb(a.tokens.Refresh)))
}

func TestRevokeLeavesOtherClientsTokensAlive(t *testing.T) { // V04
	g := newTokenRig(t)
	a := g.begin()
	for _, p := range []params{
		{"client_id": "job", "client_secret": webSecret}, {"client_id": "app"}, {"client_id": "one", "client_secret": webSecret},
	} {
		for _, token := range []string{a.tokens.Access, a.tokens.Refresh} {
			g.want(g.revoke(p.with("token", token)), 400, "unauthorized_client")
		}
	}
	if !g.alive(a.tokens.Access) {
		t.Error("the access token died")
	}
	g.want(g.token(refreshWeb(a.tokens.Refresh)), 200, "")
}

func TestRevocationRequests(t *testing.T) { // V07, V08, V10
	g := newTokenRig(t)
	a := g.begin()
	for name, c := range map[string]struct {
		p      params
		header []string
		status int
		code   string
	}{
		"nobody":            {params{"token": a.tokens.Access}, nil, 401, "invalid_client"},
		"a wrong secret":    {asWeb(a.tokens.Access).with("client_secret", strings.Repeat("x", 40)), nil, 401, "invalid_client"},
		"without a secret":  {asWeb(a.tokens.Access).with("client_secret", ""), nil, 401, "invalid_client"},
		"an unknown client": {params{"token": a.tokens.Access, "client_id": "nobody"}, nil, 401, "invalid_client"},
		"two ways":          {asWeb(a.tokens.Access), []string{"Authorization", basic("web", webSecret)}, 400, "invalid_request"},
		"no token":          {asWeb(""), nil, 400, "invalid_request"},
		"JSON":              {asWeb(a.tokens.Access), []string{"Content-Type", "application/json"}, 415, "invalid_request"},
	} {
		t.Run(name, func(t *testing.T) { g.want(g.revoke(c.p, c.header...), c.status, c.code) })
	}
	for _, method := range []string{"GET", "HEAD", "PUT", "DELETE"} {
		if a := g.do(method, tokenIssuer+"/revoke", ""); a.status != 405 || a.header.Get("Allow") != "POST" {
			t.Errorf("%s: %d %v", method, a.status, a.header)
		}
	}
	g.want(g.do("POST", tokenIssuer+"/revoke?token="+a.tokens.Access, asWeb(a.tokens.Access).encode()), 400, "invalid_request")
	if !g.alive(a.tokens.Access) {
		t.Error("the token died")
	}
	own := g.want(g.token(redeemApp(g.code(appCode))), 200, "")
	g.revoked(g.revoke(params{"token": own.tokens.Access, "client_id": "app"}))
	g.revoked(g.revoke(params{"token": own.tokens.Refresh, "client_id": "app"}))
	if g.alive(own.tokens.Access) {
		t.Error("the public client's token lives")
	}
	g.revoked(g.revoke(params{"token": a.tokens.Access}, "Authorization", basic("web", webSecret)))
}

func TestGuessedClientSecretsAreThrottledEverywhere(t *testing.T) {
	g := newTokenRig(t)
	for i := range 10 {
		p := params{"token": "x", "client_id": "web", "client_secret": fmt.Sprint("wrong ", i)}
		if i%2 == 0 {
			g.want(g.revoke(p), 401, "invalid_client")
		} else {
			g.want(g.introspect(p), 401, "invalid_client")
		}
	}
	if a := g.want(g.revoke(asWeb("x")), 429, "slow_down"); a.header.Get("Retry-After") == "" {
		t.Error("no Retry-After")
	}
	g.want(g.introspect(asWeb("x")), 429, "slow_down")
	g.want(g.token(redeemWeb(g.code())), 429, "slow_down")
}

// V09: a revocation that is not certain is never acknowledged (CVE-2020-15223).
func TestUncertainRevocationIsNotAcknowledged(t *testing.T) {
	for _, kind := range []string{"refresh", "access"} {
		for _, lost := range []bool{false, true} {
			for _, all := range []bool{false, true} {
				for n, more := 1, true; more && !t.Failed(); n++ {
					t.Run(fmt.Sprintf("%s, operation %d, lost reply %v, all that follow %v", kind, n, lost, all), func(t *testing.T) {
						g := newTokenRig(t)
						a := g.begin()
						g.alive(a.tokens.Access)
						sent := asWeb(a.tokens.Refresh)
						if kind == "access" {
							sent = asWeb(a.tokens.Access)
						}
						last := n
						if all {
							last = forever
						}
						g.store.plan(n, last, lost, errLost)
						g.revoker.through = g.store
						got := g.revoke(sent)
						more = n <= len(g.store.done())
						g.store.plan(0, 0, false, nil)
						if got.status != 200 {
							g.want(got, 503, "temporarily_unavailable")
							if n == 1 && kind == "refresh" && !g.alive(a.tokens.Access) {
								t.Error("the first operation failed and a token died all the same")
							}
							got = g.revoke(sent)
						}
						g.revoked(got)
						if g.alive(a.tokens.Access) {
							t.Error("acknowledged and alive")
						}
						if kind == "refresh" {
							g.want(g.token(refreshWeb(a.tokens.Refresh)), 400, "invalid_grant")
						}
					})
				}
			}
		}
	}
	t.Run("the guards cannot be told", func(t *testing.T) {
		g := newTokenRig(t)
		a := g.begin()
		g.revoker.fault = errLost
		g.want(g.revoke(asWeb(a.tokens.Access)), 503, "temporarily_unavailable")
		g.want(g.revoke(asWeb(a.tokens.Refresh)), 503, "temporarily_unavailable")
		if !g.alive(a.tokens.Access) {
			t.Error("a token died")
		}
		g.want(g.token(refreshWeb(a.tokens.Refresh)), 200, "") // nothing has changed
	})
	t.Run("the verifier fails", func(t *testing.T) {
		g := newTokenRig(t)
		a := g.begin()
		g.reader.fault = errLost
		g.want(g.revoke(asWeb(a.tokens.Access)), 503, "temporarily_unavailable")
	})
}

func TestOtherDialectsTokensAreNotRevoked(t *testing.T) {
	g := newTokenRig(t)
	a := g.begin()
	g.eachGrant(func(v *store.Grant) { v.Dialect = store.DialectVariantB })
	g.revoked(g.revoke(asWeb(a.tokens.Refresh)))
	if g.metrics.last() != "revoke nothing" {
		t.Error(g.metrics.last())
	}
	if got := g.introspect(asWeb(a.tokens.Refresh)); got.body != `{"active":false}` {
		t.Error(got.body)
	}
}

func TestRevocationDuringRefreshLeavesNothingAlive(t *testing.T) {
	for range 5 {
		g := newTokenRig(t)
		a := g.begin()
		gate := make(chan struct{})
		issued := make(chan string, 64)
		var wg sync.WaitGroup
		for i := range 32 {
			wg.Go(func() {
				<-gate
				if i%2 == 0 {
					if got := g.revoke(asWeb(a.tokens.Refresh)); got.status != 200 {
						t.Errorf("%d %s", got.status, got.body)
					}
					return
				}
				if got := g.token(refreshWeb(a.tokens.Refresh)); got.status == 200 {
					issued <- got.tokens.Access
				} else if got.tokens.Error != "invalid_grant" {
					t.Errorf("%d %s", got.status, got.body)
				}
			})
		}
		close(gate)
		wg.Wait()
		close(issued)
		for access := range issued {
			if g.alive(access) {
				t.Error("an access token lives")
			}
		}
		if g.alive(a.tokens.Access) {
			t.Error("the first access token lives")
		}
		g.want(g.token(refreshWeb(a.tokens.Refresh)), 400, "invalid_grant")
	}
}

// What a client revokes is kept by every guard until it has expired: it cannot be made to
// keep without end, and what one client does for itself is not counted for its users.
func TestClientRevocationsAreLimited(t *testing.T) {
	g := newTokenRig(t)
	own := params{"grant_type": "client_credentials", "client_id": "web", "client_secret": webSecret, "scope": "read"}
	for range 120 {
		g.revoked(g.revoke(asWeb(g.want(g.token(own), 200, "").tokens.Access)))
	}
	last := g.want(g.token(own), 200, "").tokens.Access
	if a := g.revoke(asWeb(last)); a.status != http.StatusTooManyRequests || a.header.Get("Retry-After") == "" || !g.alive(last) {
		t.Errorf("%d %s", a.status, a.body)
	}
	g.revoked(g.revoke(asWeb(g.begin().tokens.Access)))
	g.pass(time.Minute)
	g.revoked(g.revoke(asWeb(last)))
}

// What a client begins and ends in a loop is gone from the store soon, though it was to live
// for months: the number of living grants is limited, so that of the dead must be too.
func TestEndedGrantsDoNotFillTheStore(t *testing.T) { // N02
	synctest.Test(t, func(t *testing.T) {
		g := newTokenRig(t)
		for i := range 250 {
			a := g.begin()
			if i%2 == 0 {
				g.revoked(g.revoke(asWeb(a.tokens.Refresh)))
			} else { // a replay ends it
				a = g.want(g.token(refreshWeb(a.tokens.Refresh)), 200, "")
				g.pass(11 * time.Second)
				g.token(refreshWeb(a.tokens.Refresh))
				g.pass(11 * time.Second)
				g.want(g.token(refreshWeb(a.tokens.Refresh)), 400, "invalid_grant")
			}
		}
		living := g.begin()
		g.pass(time.Hour)
		for kind, want := range map[store.Kind]int{store.KindGrant: 1, store.KindCode: 0} { // that of the living grant
			if left := g.store.Memory.OfKind(kind); len(left) != want {
				t.Errorf("%d records of the kind %s are left, want %d", len(left), kind, want)
			}
		}
		g.want(g.token(refreshWeb(living.tokens.Refresh)), 200, "")
	})
}
