package authserver_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/gatehouse/gatehouse/module/oauth"
	"github.com/gatehouse/gatehouse/module/store"
)

// newStatusRig has a client job that nginx could be.
func newStatusRig(t *testing.T) *tokenRig {
	t.Helper()
	g := newTokenRig(t)
	g.clients.change("job", func(c *oauth.Client) { c.Introspect, c.IntrospectByStatus = true, true })
	return g
}

func asJob(token string) params {
	return params{"token": token, "client_id": "job", "client_secret": webSecret}
}

// wantRefused checks the status and the challenge of a refusal, and that nobody is named.
func (g *tokenRig) wantRefused(a answer, status int, code, challenge string) {
	g.t.Helper()
	g.want(a, status, code)
	if got := a.header.Get("Www-Authenticate"); !strings.HasPrefix(got, challenge) || challenge == "" && got != "" {
		g.t.Errorf("the challenge is %q, want %q", got, challenge)
	}
	for _, name := range []string{"X-Auth-Subject", "X-Auth-Client", "X-Auth-Scopes"} {
		if a.header.Get(name) != "" {
			g.t.Errorf("%s of a refusal: %v", name, a.header)
		}
	}
}

const (
	bareChallenge    = `Bearer realm="https://api.example"`
	invalidChallenge = bareChallenge + `, error="invalid_token"`
)

// S23: an introspection client of the kind that auth_request needs.
func TestStatusMatchesAGuardsDecision(t *testing.T) {
	g := newStatusRig(t)
	a := g.begin()
	got := g.want(g.introspect(asJob(a.tokens.Access)), 200, "")
	if h := got.header; h.Get("X-Auth-Subject") != "u1" || h.Get("X-Auth-Client") != "web" || h.Get("X-Auth-Scopes") != "read write" || h.Get("Cache-Control") != "no-store" {
		t.Errorf("%v", h)
	}
	var m map[string]any
	if g.must(json.Unmarshal([]byte(got.body), &m)); m["active"] != true || m["sub"] != "u1" {
		t.Errorf("%s", got.body)
	}
	if g.metrics.last() != "introspect active" {
		t.Error(g.metrics.last())
	}
	g.want(g.introspect(asJob(a.tokens.Access).with("scope", "write read")), 200, "")
	lacking := g.introspect(asJob(a.tokens.Access).with("scope", "read inner"))
	g.wantRefused(lacking, 403, "insufficient_scope", bareChallenge+`, error="insufficient_scope"`)
	if c := lacking.header.Get("Www-Authenticate"); !strings.HasSuffix(c, `, scope="read inner"`) {
		t.Errorf("%s", c)
	}
	if g.metrics.last() != "introspect insufficient_scope" {
		t.Error(g.metrics.last())
	}
	missing := g.introspect(asJob(""))
	g.wantRefused(missing, 401, "invalid_token", bareChallenge)
	if c := missing.header.Get("Www-Authenticate"); c != bareChallenge { // RFC 6750 section 3.1
		t.Errorf("%s", c)
	}
	g.wantRefused(g.introspect(asJob("x.y.z")), 401, "invalid_token", invalidChallenge)
	if g.metrics.last() != "introspect inactive" {
		t.Error(g.metrics.last())
	}
}

// A variable that nginx forgot to set must not let tokens without the scope pass.
func TestEmptyScopeIsAGatewayError(t *testing.T) {
	g := newStatusRig(t)
	a := g.begin()
	for _, scope := range []string{"", " ", "a\"b", strings.Repeat("x", 5000)} {
		p := asJob(a.tokens.Access).encode() + "&scope=" + strings.ReplaceAll(scope, " ", "%20")
		g.wantRefused(g.do(http.MethodPost, tokenIssuer+"/introspect", p), 400, "invalid_request", "")
	}
	// What a token could smuggle into the body that nginx writes.
	g.wantRefused(g.do(http.MethodPost, tokenIssuer+"/introspect", asJob(a.tokens.Access).with("scope", "inner").encode()+"&scope=read"), 400, "invalid_request", "")
}

// What is no access token for the audience is refused, also if the client could introspect it.
func TestStatusAdmitsOnlyAccessTokensForTheAudience(t *testing.T) {
	g := newStatusRig(t)
	a := g.begin()
	own := g.want(g.token(params{"grant_type": "client_credentials", "scope": "read", "client_id": "job", "client_secret": webSecret}), 200, "")
	if h := g.want(g.introspect(asJob(own.tokens.Access)), 200, "").header; h.Get("X-Auth-Subject") != "client:job" || h.Get("X-Auth-Client") != "job" {
		t.Errorf("%v", h)
	}
	g.clients.change("job", func(c *oauth.Client) { c.Audience = []string{"https://third.example"} })
	for _, token := range []string{a.tokens.Access, own.tokens.Access} {
		g.wantRefused(g.introspect(asJob(token)), 401, "invalid_token", `Bearer realm="https://third.example", error="invalid_token"`)
	}
	g.clients.change("web", func(c *oauth.Client) { c.Introspect, c.IntrospectByStatus = true, true })
	g.want(g.introspect(asWeb(a.tokens.Access)), 200, "")
	g.wantRefused(g.introspect(asWeb(a.tokens.Refresh)), 401, "invalid_token", invalidChallenge) // its own
}

func TestStatusRefusesRevokedTokens(t *testing.T) {
	for name, kill := range map[string]func(g *tokenRig, a answer){
		"revoked":       func(g *tokenRig, a answer) { g.revoked(g.revoke(asWeb(a.tokens.Access))) },
		"revoked grant": func(g *tokenRig, a answer) { g.revoked(g.revoke(asWeb(a.tokens.Refresh))) },
		"expired":       func(g *tokenRig, _ answer) { g.pass(time.Hour) },
		"locked user":   func(g *tokenRig, _ answer) { g.users.SetLocked("u1", true) },
		"client gone":   func(g *tokenRig, _ answer) { g.clients.remove("web") },
		"at another node a moment ago": func(g *tokenRig, a answer) {
			g.want(g.introspect(asJob(a.tokens.Access)), 200, "")
			g.eachGrant(func(v *store.Grant) { *v = v.Revoke(g.now()) })
			g.reader.deaf = true
		},
	} {
		t.Run(name, func(t *testing.T) {
			g := newStatusRig(t)
			a := g.begin()
			kill(g, a)
			g.wantRefused(g.introspect(asJob(a.tokens.Access)), 401, "invalid_token", invalidChallenge)
		})
	}
}

// Nobody but the client itself is answered, and a fault is no answer about a token.
func TestStatusNeedsClientAuthAndReportsFaults(t *testing.T) {
	g := newStatusRig(t)
	a := g.begin()
	for name, p := range map[string]params{
		"nobody":          {"token": a.tokens.Access},
		"a wrong secret":  asJob(a.tokens.Access).with("client_secret", strings.Repeat("x", 40)),
		"a public client": {"token": a.tokens.Access, "client_id": "app"},
	} {
		t.Run(name, func(t *testing.T) {
			got := g.want(g.introspect(p), 401, "invalid_client")
			if c := got.header.Get("Www-Authenticate"); strings.HasPrefix(c, "Bearer") {
				t.Errorf("%s", c)
			}
		})
	}
	for name, fail := range map[string]func(g *tokenRig){
		"store":     func(g *tokenRig) { g.store.plan(1, forever, false, errLost) },
		"verifier":  func(g *tokenRig) { g.reader.fault = errLost },
		"clients":   func(g *tokenRig) { g.clients.fault = errLost },
		"directory": func(g *tokenRig) { g.users.Fail(errLost) },
	} {
		t.Run(name, func(t *testing.T) {
			g := newStatusRig(t)
			a := g.begin()
			g.want(g.introspect(asJob(a.tokens.Access)), 200, "")
			fail(g)
			got := g.introspect(asJob(a.tokens.Access))
			if g.wantRefused(got, 503, "temporarily_unavailable", ""); got.header.Get("Retry-After") == "" {
				t.Error("no Retry-After")
			}
		})
	}
}

// Everybody behind nginx has its address, and nginx makes 500 of a 429.
func TestStatusIsNotRateLimited(t *testing.T) {
	g := newStatusRig(t)
	a := g.begin()
	for i := range 100 {
		g.wantRefused(g.introspect(asJob(fmt.Sprint("guess ", i))), 401, "invalid_token", invalidChallenge)
	}
	g.want(g.introspect(asJob(a.tokens.Access)), 200, "")
}

// What could not stand in a header is percent-encoded, as a guard does it.
func TestIdentityCannotInjectAHeader(t *testing.T) {
	g := newStatusRig(t)
	a := g.begin()
	theirs := *must(g.verifier.Verify(t.Context(), a.tokens.Access))
	theirs.Pairwise, theirs.Scopes = "ü\r\nX-Admin: 1%", slices.Concat(theirs.Scopes, []string{"50%"})
	g.reader.deaf, g.reader.read[a.tokens.Access] = true, &theirs
	got := g.want(g.introspect(asJob(a.tokens.Access)), 200, "")
	if h := got.header; h.Get("X-Auth-Subject") != "%C3%BC%0D%0AX-Admin:%201%25" || h.Get("X-Auth-Scopes") != "read write 50%25" || h.Get("X-Admin") != "" {
		t.Errorf("%v", h)
	}
}
