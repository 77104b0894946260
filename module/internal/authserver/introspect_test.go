package authserver_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/gatehouse/gatehouse/module/oauth"
	"github.com/gatehouse/gatehouse/module/store"
)

func (g *tokenRig) introspect(p params, header ...string) answer {
	return g.do(http.MethodPost, tokenIssuer+"/introspect", p.encode(), header...)
}

// inactive checks that an answer says nothing at all.
func (g *tokenRig) inactive(a answer) {
	g.t.Helper()
	if g.want(a, 200, ""); a.body != `{"active":false}` {
		g.t.Errorf("%s", a.body)
	}
}

// active returns the members of an answer about a living token.
func (g *tokenRig) active(a answer) map[string]any {
	g.t.Helper()
	g.want(a, 200, "")
	var m map[string]any
	g.must(json.Unmarshal([]byte(a.body), &m))
	if m["active"] != true {
		g.t.Fatalf("%s", a.body)
	}
	return m
}

func TestClientIntrospectsItsOwnTokens(t *testing.T) { // I01, I05
	g := newTokenRig(t)
	a := g.begin()
	at := float64(g.now().Unix())
	m := g.active(g.introspect(asWeb(a.tokens.Access)))
	if jti, ok := m["jti"].(string); !ok || jti == "" {
		t.Errorf("jti %v", m["jti"])
	}
	delete(m, "jti")
	if want := map[string]any{
		"active": true, "scope": "read write", "client_id": "web", "sub": "u1", "iss": tokenIssuer, "iat": at, "exp": at + 3600,
		"aud": []any{"https://api.example", "https://other.example"}, "token_type": "Bearer", "token_use": "access_token",
	}; !reflect.DeepEqual(m, want) {
		t.Errorf("%v", m)
	}
	m = g.active(g.introspect(asWeb(a.tokens.Refresh).with("token_type_hint", "access_token")))
	if want := map[string]any{
		"active": true, "scope": "read write", "client_id": "web", "sub": "u1", "iss": tokenIssuer, "iat": at, "exp": at + 14*24*3600,
		"token_use": "refresh_token",
	}; !reflect.DeepEqual(m, want) {
		t.Errorf("%v", m)
	}
	if g.metrics.last() != "introspect active" {
		t.Error(g.metrics.last())
	}
	job := params{"grant_type": "client_credentials", "scope": "read", "client_id": "job", "client_secret": webSecret}
	own := g.want(g.token(job), 200, "")
	m = g.active(g.introspect(params{"token": own.tokens.Access, "client_id": "job", "client_secret": webSecret}))
	if m["sub"] != "client:job" || m["aud"] != "https://api.example" {
		t.Errorf("%v", m)
	}
}

func TestIntrospectionShowsServersOnlyTheirTokens(t *testing.T) { // I05
	g := newTokenRig(t)
	a := g.begin()
	as := func(id, token string) params {
		return params{"token": token, "client_id": id, "client_secret": webSecret}
	}
	g.clients.change("job", func(c *oauth.Client) { c.Grants = append(slices.Clone(c.Grants), oauth.RefreshToken) })
	g.inactive(g.introspect(as("job", a.tokens.Access)))
	g.inactive(g.introspect(as("job", a.tokens.Refresh)))
	g.clients.change("job", func(c *oauth.Client) { c.Introspect = true }) // the server's audience
	g.active(g.introspect(as("job", a.tokens.Access)))
	g.inactive(g.introspect(as("job", a.tokens.Refresh))) // never
	g.clients.change("job", func(c *oauth.Client) { c.Audience = []string{"https://third.example", "https://other.example"} })
	g.active(g.introspect(as("job", a.tokens.Access)))
	g.clients.change("job", func(c *oauth.Client) { c.Audience = []string{"https://third.example"} })
	g.inactive(g.introspect(as("job", a.tokens.Access)))
	g.clients.change("job", func(c *oauth.Client) { c.Audience, c.Introspect = []string{"https://api.example"}, false })
	g.inactive(g.introspect(as("job", a.tokens.Access)))
	g.active(g.introspect(as("web", a.tokens.Access)))
}

func TestRevokedTokensAreInactive(t *testing.T) {
	for name, kill := range map[string]struct {
		do            func(g *tokenRig, a answer)
		access, fresh bool // what stays alive
	}{
		"revoked access":  {func(g *tokenRig, a answer) { g.revoked(g.revoke(asWeb(a.tokens.Access))) }, false, true},
		"revoked refresh": {func(g *tokenRig, a answer) { g.revoked(g.revoke(asWeb(a.tokens.Refresh))) }, false, false},
		"expired access":  {func(g *tokenRig, _ answer) { g.pass(time.Hour) }, false, true},
		"idle":            {func(g *tokenRig, _ answer) { g.pass(14 * 24 * time.Hour) }, false, false},
		"rotated, in the grace": {func(g *tokenRig, a answer) {
			g.want(g.token(refreshWeb(a.tokens.Refresh)), 200, "")
			g.pass(9 * time.Second)
		}, true, true},
		"rotated, after the grace": {func(g *tokenRig, a answer) {
			g.want(g.token(refreshWeb(a.tokens.Refresh)), 200, "")
			g.pass(10 * time.Second)
		}, true, false},
		"locked user": {func(g *tokenRig, _ answer) {
			g.users.SetLocked("u1", true)
		}, false, false},
		"deleted user": {func(g *tokenRig, _ answer) { g.users.Remove("u1") }, false, false},
		"no refreshing": {func(g *tokenRig, _ answer) {
			g.clients.change("web", func(c *oauth.Client) { c.Grants = c.Grants[:1] })
		}, true, false},
		"marked in the store": {func(g *tokenRig, _ answer) { g.eachGrant(func(v *store.Grant) { *v = v.Revoke(g.now()) }) }, false, false},
		"grant revoked by another node a moment ago": {func(g *tokenRig, a answer) {
			g.active(g.introspect(asWeb(a.tokens.Access)))
			g.revoked(g.revoke(asWeb(a.tokens.Refresh)))
			g.reader.deaf = true
		}, false, false},
		"signed out everywhere at another node a moment ago": {func(g *tokenRig, a answer) {
			g.active(g.introspect(asWeb(a.tokens.Access)))
			g.must(g.server.EndSubject(g.t.Context(), "u1"))
			g.reader.deaf = true
		}, false, false},
		"revoked by another node a moment ago": {func(g *tokenRig, a answer) {
			g.active(g.introspect(asWeb(a.tokens.Access)))
			g.revoked(g.revoke(asWeb(a.tokens.Access)))
			g.reader.deaf = true
		}, false, true},
	} {
		t.Run(name, func(t *testing.T) {
			g := newTokenRig(t)
			a := g.begin()
			kill.do(g, a)
			for token, alive := range map[string]bool{a.tokens.Access: kill.access, a.tokens.Refresh: kill.fresh} {
				if got := g.introspect(asWeb(token)); alive {
					g.active(got)
				} else {
					g.inactive(got)
				}
			}
		})
	}
	t.Run("the client is gone", func(t *testing.T) {
		g := newTokenRig(t)
		a := g.begin()
		g.clients.change("job", func(c *oauth.Client) { c.Introspect = true })
		g.clients.remove("web")
		g.inactive(g.introspect(params{"token": a.tokens.Access, "client_id": "job", "client_secret": webSecret}))
	})
}

// Two issuers may share a store, and then share keys and verifier.
func TestTokensOfAnotherIssuerAreInactive(t *testing.T) {
	g := newTokenRig(t)
	a := g.begin()
	g.active(g.introspect(asWeb(a.tokens.Access)))
	theirs := *g.reader.read[a.tokens.Access]
	theirs.Issuer = "https://other.example"
	g.reader.deaf, g.reader.read[a.tokens.Access] = true, &theirs
	g.inactive(g.introspect(asWeb(a.tokens.Access)))
	g.revoked(g.revoke(asWeb(a.tokens.Access)))
	g.reader.deaf = false
	g.active(g.introspect(asWeb(a.tokens.Access)))
}

func TestIntrospectionRequests(t *testing.T) { // I03, I04
	g := newTokenRig(t)
	a := g.want(g.token(redeemApp(g.code(appCode))), 200, "")
	token := a.tokens.Access
	for name, c := range map[string]struct {
		p      params
		header []string
		status int
		code   string
	}{
		"nobody":                  {params{"token": token}, nil, 401, "invalid_client"},
		"a wrong secret":          {asWeb(token).with("client_secret", strings.Repeat("x", 40)), nil, 401, "invalid_client"},
		"a public client":         {params{"token": token, "client_id": "app"}, nil, 401, "invalid_client"},
		"a public client, Basic":  {params{"token": token}, []string{"Authorization", basic("app", "")}, 401, "invalid_client"},
		"the token as credential": {params{"token": token}, []string{"Authorization", "Bearer " + token}, 401, "invalid_client"},
		"no token":                {asWeb(""), nil, 400, "invalid_request"},
		"JSON":                    {asWeb(token), []string{"Content-Type", "application/json"}, 415, "invalid_request"},
	} {
		t.Run(name, func(t *testing.T) { g.want(g.introspect(c.p, c.header...), c.status, c.code) })
	}
	for _, method := range []string{"GET", "HEAD", "OPTIONS", "PUT"} {
		a := g.do(method, tokenIssuer+"/introspect", "", "Origin", "https://spa.example")
		if a.status != 405 || a.header.Get("Allow") != "POST" || a.header.Get("Access-Control-Allow-Origin") != "" {
			t.Errorf("%s: %d %v", method, a.status, a.header)
		}
	}
	g.want(g.do("POST", tokenIssuer+"/introspect?token="+token, asWeb("").encode()), 400, "invalid_request")
	if got := g.introspect(asWeb("x"), "Origin", "https://spa.example"); got.header.Get("Access-Control-Allow-Origin") != "" {
		t.Error("scripts may introspect")
	}
}

func TestIntrospectionFaultIsNotInactive(t *testing.T) { // I06
	as := asWeb
	for name, fail := range map[string]func(g *tokenRig){
		"store":     func(g *tokenRig) { g.store.plan(1, forever, false, errLost) },
		"verifier":  func(g *tokenRig) { g.reader.fault = errLost },
		"clients":   func(g *tokenRig) { g.clients.fault = errLost },
		"directory": func(g *tokenRig) { g.users.Fail(errLost) },
	} {
		t.Run(name, func(t *testing.T) {
			g := newTokenRig(t)
			a := g.begin()
			g.active(g.introspect(as(a.tokens.Access)))
			g.active(g.introspect(as(a.tokens.Refresh)))
			fail(g)
			g.want(g.introspect(as(a.tokens.Access)), 503, "temporarily_unavailable")
			if name != "verifier" {
				g.want(g.introspect(as(a.tokens.Refresh)), 503, "temporarily_unavailable")
			}
		})
	}
	for n := 1; n <= 3; n++ { // each read alone
		g := newTokenRig(t)
		a := g.begin()
		g.store.plan(n, n, false, errLost)
		got := g.introspect(as(a.tokens.Access))
		if n <= len(g.store.done()) {
			g.want(got, 503, "temporarily_unavailable")
		}
	}
}

func TestGuessedTokensAreLimitedAndLiveOnesPass(t *testing.T) { // I08
	g := newTokenRig(t)
	a := g.begin()
	old := g.begin()
	g.revoked(g.revoke(asWeb(old.tokens.Access)))
	for i := range 10 {
		g.inactive(g.introspect(asWeb(fmt.Sprint("guess ", i))))
	}
	if got := g.want(g.introspect(asWeb("guess")), 429, "slow_down"); got.header.Get("Retry-After") == "" {
		t.Error("no Retry-After")
	}
	g.want(g.introspect(asWeb(strings.Repeat("A", 75))), 429, "slow_down")
	g.active(g.introspect(asWeb(a.tokens.Access)))
	g.active(g.introspect(asWeb(a.tokens.Refresh)))
	g.inactive(g.introspect(asWeb(old.tokens.Access))) // genuine, so not guessed
	g.from("192.0.2.2")
	g.inactive(g.introspect(asWeb("guess")))
	g.from("192.0.2.1")
	g.pass(time.Minute)
	g.inactive(g.introspect(asWeb("guess")))
}
