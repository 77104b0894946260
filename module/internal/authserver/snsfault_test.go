package authserver_test

import (
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"
)

// Whatever operation of the store fails, before it took effect or after, and however long:
// the code is neither lost nor taken twice, and the user has one name.
func TestStoreFaultLosesNothingOfVariantB(t *testing.T) {
	for name, prepare := range map[string]func(*tokenRig) (string, params){
		"a code": func(g *tokenRig) (string, params) { return "oauth2/access_token", exchangeWX(g.snsCode()) },
		"a refresh token": func(g *tokenRig) (string, params) {
			first := g.sns("oauth2/access_token", exchangeWX(g.snsCode()))
			g.pass(time.Hour)
			return "oauth2/refresh_token", refreshWX(first.Refresh)
		},
		"a profile":  func(g *tokenRig) (string, params) { return "userinfo", g.snsSignIn().asks() },
		"a question": func(g *tokenRig) (string, params) { return "auth", g.snsSignIn().asks() },
	} {
		for _, lost := range []bool{false, true} {
			for _, all := range []bool{false, true} {
				for n, more := 1, true; more && !t.Failed(); n++ {
					t.Run(fmt.Sprintf("%s, operation %d, lost reply %v, all that follow %v", name, n, lost, all), func(t *testing.T) {
						g := newTokenRig(t)
						wx(g)
						path, p := prepare(g)
						last := n
						if all {
							last = forever
						}
						g.store.plan(n, last, lost, errLost)
						a := g.sns(path, p)
						more = n <= len(g.store.done())
						g.store.plan(0, 0, false, nil)
						if a.status != 200 {
							if a.status != 503 || a.Errcode != -1 || a.header.Get("Retry-After") == "" || strings.Contains(a.body, "connection") {
								t.Fatalf("%d %s", a.status, a.body)
							}
							a = g.sns(path, p)
						}
						if a.status != 200 || a.Errcode != 0 || path != "auth" && (len(a.OpenID) != 28 || len(a.UnionID) != 28) {
							t.Fatalf("%d %s", a.status, a.body)
						}
						if a.Access != "" && !g.alive(a.Access) {
							t.Error("the access token is dead")
						}
						if p["code"] == "" {
							return
						}
						if again := g.sns(path, p); again.Errcode != 40163 || g.alive(a.Access) {
							t.Errorf("a replay: %d %s", again.status, again.body)
						}
					})
				}
			}
		}
	}
}

// The same of everything else that an answer takes: a fault is never an answer about a
// client, a code, a token or a user, and it uses nothing up.
func TestVariantBFaultIsNoAnswer(t *testing.T) {
	away := errors.New("canary: connection refused")
	for name, c := range map[string]struct {
		fail  func(*tokenRig, error)
		spare string // the address that does without
	}{
		"the clients":   {func(g *tokenRig, err error) { g.clients.mu.Lock(); defer g.clients.mu.Unlock(); g.clients.fault = err }, ""},
		"the directory": {func(g *tokenRig, err error) { g.users.Fail(err) }, ""},
		"the signature": {func(g *tokenRig, err error) { g.tokens.fault = err }, "auth userinfo"},
		"the verifier":  {func(g *tokenRig, err error) { g.reader.fault = err }, "oauth2/access_token oauth2/refresh_token"},
		"the store":     {func(g *tokenRig, err error) { g.store.Fail(err) }, "auth"},
	} {
		t.Run(name, func(t *testing.T) {
			g := newTokenRig(t)
			wx(g)
			first := g.snsSignIn()
			g.pass(time.Minute)
			asks := map[string]params{
				"oauth2/access_token": exchangeWX(g.snsCode()), "oauth2/refresh_token": refreshWX(first.Refresh), "auth": first.asks(), "userinfo": first.asks(),
			}
			for path, p := range asks {
				c.fail(g, away)
				if !strings.Contains(c.spare, path) {
					for range 12 { // more than a client may fail
						a := g.sns(path, p)
						if g.wantSNS(a, "503 unavailable - -1"); strings.Contains(a.body, "canary") {
							t.Errorf("%s: %s", path, a.body)
						}
					}
				}
				c.fail(g, nil)
				if a := g.sns(path, p); a.status != http.StatusOK || a.Errcode != 0 {
					t.Errorf("%s, afterwards: %d %s", path, a.status, a.body)
				}
			}
			if !strings.Contains(g.log.String(), "canary") {
				t.Error("the log does not say why")
			}
		})
	}
}
