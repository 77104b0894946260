package authserver_test

import (
	"strings"
	"testing"
	"time"

	"github.com/gatehouse/gatehouse/module/oauth"
	"github.com/gatehouse/gatehouse/module/store"
)

func TestClientWithoutRefreshGrantGetsNoRefreshToken(t *testing.T) { // C16
	g := newTokenRig(t)
	a := g.want(g.token(redeemWeb(g.code(func(c *store.Code) { c.Client = "one" })).with("client_id", "one")), 200, "")
	if strings.Contains(a.body, "refresh_token") {
		t.Error(a.body)
	}
}

func TestFailedCheckDoesNotConsumeTheCode(t *testing.T) { // C03-C08, C12, C13
	g := newTokenRig(t)
	web := func(change ...func(*store.Code)) func() (string, params) {
		return func() (string, params) { c := g.code(change...); return c, redeemWeb(c) }
	}
	app := func() (string, params) { c := g.code(appCode); return c, redeemApp(c) }
	for _, c := range []struct {
		name   string
		make   func() (string, params)
		change func(params) params
		during func()
		after  func()
	}{
		{"of another client", web(), func(p params) params { return p.with("client_id", "one") }, nil, nil},
		{"of another client, by a public one", web(), func(p params) params { return p.with("client_id", "spa").with("client_secret", "") }, nil, nil},
		{"redirect_uri differs by a character", web(), func(p params) params { return p.with("redirect_uri", webRedirect+"x") }, nil, nil},
		{"redirect_uri in other case", web(), func(p params) params { return p.with("redirect_uri", "https://WEB.example/cb") }, nil, nil},
		{"redirect_uri missing", web(), func(p params) params { return p.with("redirect_uri", "") }, nil, nil},
		{"a verifier though there was no challenge", web(), func(p params) params { return p.with("code_verifier", verifier) }, nil, nil},
		{"verifier missing", app, func(p params) params { return p.with("code_verifier", "") }, nil, nil},
		{"verifier wrong", app, func(p params) params { return p.with("code_verifier", verifier[1:]+"x") }, nil, nil},
		{"verifier is the challenge", app, func(p params) params { return p.with("code_verifier", oauth.Challenge(verifier)) }, nil, nil},
		{"verifier of 42", app, func(p params) params { return p.with("code_verifier", verifier[:42]) }, nil, nil},
		{"verifier of 129", app, func(p params) params { return p.with("code_verifier", strings.Repeat("v", 129)) }, nil, nil},
		{"verifier with a space", app, func(p params) params { return p.with("code_verifier", verifier+" ") }, nil, nil},
		{"a code of another form", app, func(p params) params { return p.with("code", p["code"]+"x") }, nil, nil},
		{"an oversize code", app, func(p params) params { return p.with("code", strings.Repeat("c", 300)) }, nil, nil},
		{"user locked", web(), nil, func() { g.users.SetLocked("u1", true) }, func() { g.users.SetLocked("u1", false) }},
		{"redirect address removed", web(), nil,
			func() { g.clients.change("web", func(c *oauth.Client) { c.RedirectURIs = nil }) },
			func() { g.clients.change("web", func(c *oauth.Client) { c.RedirectURIs = []string{webRedirect} }) }},
		{"scopes taken from the client", web(), nil,
			func() { g.clients.change("web", func(c *oauth.Client) { c.Scopes, c.DefaultScopes = nil, nil }) },
			func() { g.clients.change("web", func(c *oauth.Client) { c.Scopes = []string{"read", "write"} }) }},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, right := c.make()
			wrong := right
			if c.change != nil {
				wrong = c.change(right)
			}
			if c.during != nil {
				c.during()
			}
			g.want(g.token(wrong), 400, "invalid_grant")
			if c.after != nil {
				c.after()
			}
			a := g.want(g.token(right), 200, "")
			if !g.alive(a.tokens.Access) {
				t.Error("the failed attempt killed the family")
			}
		})
	}
}

func TestUnredeemableCodes(t *testing.T) {
	g := newTokenRig(t)
	t.Run("expired", func(t *testing.T) { // C03
		p := redeemWeb(g.code())
		g.pass(59 * time.Second)
		early := redeemWeb(g.code(func(c *store.Code) { c.Expires = g.now().Add(time.Second) }))
		g.want(g.token(early), 200, "")
		g.pass(time.Second)
		g.want(g.token(p), 400, "invalid_grant")
		g.pass(time.Hour)
		g.want(g.token(p), 400, "invalid_grant")
	})
	t.Run("of Variant B", func(t *testing.T) {
		g.want(g.token(redeemWeb(g.code(func(c *store.Code) { c.Dialect = store.DialectVariantB }))), 400, "invalid_grant")
	})
	t.Run("without code", func(t *testing.T) {
		g.want(g.token(redeemWeb("")), 400, "invalid_request")
	})
	t.Run("of a user who is gone", func(t *testing.T) { // C12
		g.want(g.token(redeemWeb(g.code(func(c *store.Code) { c.Subject = "u9" }))), 400, "invalid_grant")
	})
	t.Run("client removed", func(t *testing.T) { // C13
		p := redeemWeb(g.code())
		g.clients.remove("web")
		g.want(g.token(p), 401, "invalid_client")
	})
}

func TestCodeWithoutRedirectURI(t *testing.T) {
	g := newTokenRig(t)
	none := func(c *store.Code) { c.RedirectURI = "" }
	g.want(g.token(redeemWeb(g.code(none))), 400, "invalid_grant")
	g.want(g.token(redeemWeb(g.code(none)).with("redirect_uri", "")), 200, "")
}

func TestCodeScopeIsNotWidened(t *testing.T) { // C11
	g := newTokenRig(t)
	read := g.code(func(c *store.Code) { c.Scopes = []string{"read"} })
	if a := g.want(g.token(redeemWeb(read).with("scope", "read write")), 200, ""); a.tokens.Scope != "read" {
		t.Error(a.tokens.Scope)
	}
	g.clients.change("web", func(c *oauth.Client) { c.Scopes = []string{"write"}; c.DefaultScopes = nil })
	if a := g.begin(); a.tokens.Scope != "write" {
		t.Error(a.tokens.Scope)
	}
}

func TestReplayedCodeRevokesWhatItIssued(t *testing.T) { // C02, C15
	for _, wait := range []time.Duration{0, time.Second, 30 * time.Second, 2 * time.Minute, 20 * time.Minute} {
		t.Run(wait.String(), func(t *testing.T) {
			g := newTokenRig(t)
			p := redeemWeb(g.code())
			first := g.want(g.token(p), 200, "")
			g.pass(wait)
			if !g.alive(first.tokens.Access) {
				t.Fatal("dead before the replay")
			}
			g.want(g.token(p), 400, "invalid_grant")
			if g.alive(first.tokens.Access) {
				t.Error("the access token lives")
			}
			g.want(g.token(refreshWeb(first.tokens.Refresh)), 400, "invalid_grant")
			if !strings.Contains(g.log.String(), "used authorization code") {
				t.Error("the operator is not told")
			}
		})
	}
}

func TestReplayIsDetectedWhileTheGrantLives(t *testing.T) { // C02
	g := newTokenRig(t)
	p := redeemWeb(g.code())
	last := g.want(g.token(p), 200, "")
	for range 5 { // five times 6 days, refreshed within the idle time
		g.pass(6*24*time.Hour - time.Minute)
		last = g.want(g.token(refreshWeb(last.tokens.Refresh)), 200, "")
	}
	g.pass(30 * time.Minute)
	g.want(g.token(p), 400, "invalid_grant")
	if g.alive(last.tokens.Access) {
		t.Error("the last access token outlives the replay")
	}
}

func TestReplayByAnUnauthorizedClientRevokesNothing(t *testing.T) {
	g := newTokenRig(t)
	p := redeemApp(g.code(appCode))
	first := g.want(g.token(p), 200, "")
	g.want(g.token(p.with("code_verifier", "")), 400, "invalid_grant")
	g.want(g.token(p.with("code_verifier", verifier+"x")), 400, "invalid_grant")
	g.want(g.token(p.with("client_id", "spa")), 400, "invalid_grant")
	g.want(g.token(p.with("redirect_uri", "https://evil.example")), 400, "invalid_grant")
	if !g.alive(first.tokens.Access) {
		t.Error("whoever sees a used code can sign its user out")
	}
	g.want(g.token(p), 400, "invalid_grant")
	if g.alive(first.tokens.Access) {
		t.Error("the replay killed nothing")
	}
}
