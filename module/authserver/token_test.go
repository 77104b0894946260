package authserver_test

import (
	"encoding/base64"
	"errors"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/gatehouse/gatehouse/module/internal/secret"
	"github.com/gatehouse/gatehouse/module/oauth"
	"github.com/gatehouse/gatehouse/module/store"
)

func TestTheTokenRequestIsReadStrictly(t *testing.T) { // T01-T05, T22, T25
	g := newTokenRig(t)
	job := params{"grant_type": "client_credentials", "client_id": "web", "client_secret": webSecret}
	form := job.encode()
	for _, c := range []struct {
		name, method, query, body string
		header                    []string
		status                    int
		code                      string
	}{
		{"a form", "POST", "", form, nil, 200, ""},
		{"a form with a charset", "POST", "", form, []string{"Content-Type", "Application/X-WWW-Form-Urlencoded; charset=UTF-8"}, 200, ""},
		{"empty pieces", "POST", "", "&&" + form + "&", nil, 200, ""},
		{"an empty value counts as absent", "POST", "", form + "&scope=", nil, 200, ""},
		{"an unknown parameter", "POST", "", form + "&audience=x", nil, 200, ""},
		{"GET", "GET", "", "", nil, 405, "invalid_request"},
		{"HEAD", "HEAD", "", "", nil, 405, "invalid_request"},
		{"PUT", "PUT", "", form, nil, 405, "invalid_request"},
		{"JSON", "POST", "", `{"grant_type":"client_credentials"}`, []string{"Content-Type", "application/json"}, 415, "invalid_request"},
		{"text", "POST", "", form, []string{"Content-Type", "text/plain"}, 415, "invalid_request"},
		{"multipart", "POST", "", form, []string{"Content-Type", "multipart/form-data; boundary=x"}, 415, "invalid_request"},
		{"no type", "POST", "", form, []string{"Content-Type", ""}, 415, "invalid_request"},
		{"a broken type", "POST", "", form, []string{"Content-Type", ";"}, 415, "invalid_request"},
		{"an empty body", "POST", "", "", nil, 400, "invalid_request"},
		{"an empty body without a type", "POST", "", "", []string{"Content-Type", ""}, 400, "invalid_request"},
		{"all in the query", "POST", "?" + form, "", nil, 400, "invalid_request"},
		{"the secret in the query", "POST", "?client_secret=" + webSecret, form, nil, 400, "invalid_request"},
		{"anything in the query", "POST", "?x=1", form, nil, 400, "invalid_request"},
		{"grant_type missing", "POST", "", job.with("grant_type", "").encode(), nil, 400, "invalid_request"},
		{"grant_type bad", "POST", "", job.with("grant_type", "bad").encode(), nil, 400, "unsupported_grant_type"},
		{"grant_type in capitals", "POST", "", job.with("grant_type", "CLIENT_CREDENTIALS").encode(), nil, 400, "unsupported_grant_type"},
		{"password", "POST", "", job.with("grant_type", "password").encode(), nil, 400, "unsupported_grant_type"},
		{"device code", "POST", "", job.with("grant_type", "urn:ietf:params:oauth:grant-type:device_code").encode(), nil, 400, "unsupported_grant_type"},
		{"a grant the client may not use", "POST", "", redeemWeb("x").with("client_id", "job").encode(), nil, 400, "unauthorized_client"},
		{"a repeated parameter", "POST", "", form + "&grant_type=client_credentials", nil, 400, "invalid_request"},
		{"a repeated empty parameter", "POST", "", form + "&scope=&scope=read", nil, 400, "invalid_request"},
		{"a repeated parameter in two spellings", "POST", "", form + "&%67rant_type=x", nil, 400, "invalid_request"},
		{"a repeated unknown parameter", "POST", "", form + "&x=1&x=1", nil, 400, "invalid_request"},
		{"invalid UTF-8", "POST", "", form + "&x=%ff", nil, 400, "invalid_request"},
		{"an invalid UTF-8 name", "POST", "", form + "&\xff=1", nil, 400, "invalid_request"},
		{"NUL", "POST", "", form + "&x=%00", nil, 400, "invalid_request"},
		{"a malformed escape", "POST", "", form + "&x=%zz", nil, 400, "invalid_request"},
		{"a cut escape", "POST", "", form + "&x=%4", nil, 400, "invalid_request"},
		{"a semicolon", "POST", "", form + ";x=1", nil, 400, "invalid_request"},
		{"64 KiB", "POST", "", form + "&x=" + strings.Repeat("x", 64<<10-len(form)-3), nil, 200, ""},
		{"64 KiB and a byte", "POST", "", form + "&x=" + strings.Repeat("x", 64<<10-len(form)-2), nil, 413, "invalid_request"},
	} {
		t.Run(c.name, func(t *testing.T) {
			a := g.do(c.method, tokenIssuer+"/token"+c.query, c.body, c.header...)
			g.want(a, c.status, c.code)
			if c.status == 405 && a.header.Get("Allow") != "POST" {
				t.Errorf("Allow: %q", a.header.Get("Allow"))
			}
		})
	}
}

func TestTheAnswerHasWhatRFC6749Asks(t *testing.T) { // T17, T18, C01
	g := newTokenRig(t)
	a := g.begin()
	if a.tokens.Type != "Bearer" || a.tokens.Expires != 3600 || a.tokens.Scope != "read write" || a.tokens.Refresh == "" {
		t.Fatalf("%s", a.body)
	}
	if !strings.Contains(a.body, `"expires_in":3600`) {
		t.Errorf("expires_in is no integer: %s", a.body)
	}
	if !g.alive(a.tokens.Access) {
		t.Fatal("the guard refuses the access token")
	}
	access, err := g.verifier.Verify(t.Context(), a.tokens.Access)
	if err != nil {
		t.Fatal(err)
	}
	if access.Subject != "u1" || access.Client != "web" || access.Grant == "" || access.Issuer != tokenIssuer ||
		len(access.Audience) != 2 || access.Expires.Sub(access.IssuedAt) != time.Hour {
		t.Errorf("%+v", access)
	}
	if g.metrics.last() != "authorization_code issued" {
		t.Errorf("counted as %q", g.metrics.last())
	}
}

func TestAClientWithoutTheRefreshGrantGetsNoRefreshToken(t *testing.T) { // C16
	g := newTokenRig(t)
	a := g.want(g.token(redeemWeb(g.code(func(c *store.Code) { c.Client = "one" })).with("client_id", "one")), 200, "")
	if strings.Contains(a.body, "refresh_token") {
		t.Error(a.body)
	}
}

func TestACodeIsRefusedByEachCheckAloneAndNotBurned(t *testing.T) { // C03-C08, C12, C13
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

func TestACodeThatCannotBeRedeemed(t *testing.T) {
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

func TestACodeWithoutRedirectURI(t *testing.T) {
	g := newTokenRig(t)
	none := func(c *store.Code) { c.RedirectURI = "" }
	g.want(g.token(redeemWeb(g.code(none))), 400, "invalid_grant")
	g.want(g.token(redeemWeb(g.code(none)).with("redirect_uri", "")), 200, "")
}

func TestTheScopeOfACodeIsNotWidened(t *testing.T) { // C11
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

func TestAReplayedCodeKillsWhatItIssued(t *testing.T) { // C02, C15
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

func TestAReplayIsRecognisedAsLongAsAnythingLives(t *testing.T) { // C02
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

func TestAReplayByOneWhoCouldNotRedeemKillsNothing(t *testing.T) {
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

func TestClientCredentials(t *testing.T) { // K01-K04
	g := newTokenRig(t)
	job := params{"grant_type": "client_credentials", "client_id": "web", "client_secret": webSecret}
	a := g.want(g.token(job), 200, "")
	if a.tokens.Scope != "read" || a.tokens.Refresh != "" {
		t.Error(a.body)
	}
	g.alive(a.tokens.Access)
	if access, err := g.verifier.Verify(t.Context(), a.tokens.Access); err != nil || access.Subject != "client:web" || access.Grant != "" {
		t.Errorf("%+v %v", access, err)
	}
	if a := g.want(g.token(job.with("scope", "write read write")), 200, ""); a.tokens.Scope != "write read" {
		t.Error(a.tokens.Scope)
	}
	g.want(g.token(job.with("scope", "inner")), 400, "invalid_scope")
	g.want(g.token(job.with("scope", "a\"b")), 400, "invalid_scope")
	g.want(g.token(job.with("client_id", "job")), 400, "invalid_scope")
	g.want(g.token(job.with("client_id", "job").with("scope", "read")), 200, "")
	g.want(g.token(params{"grant_type": "client_credentials", "client_id": "spa"}), 400, "unauthorized_client")
	g.want(g.token(params{"grant_type": "client_credentials", "client_id": "app"}), 400, "unauthorized_client")
}

func TestResourceNarrowsTheAudience(t *testing.T) { // K04
	g := newTokenRig(t)
	job := params{"grant_type": "client_credentials", "client_id": "web", "client_secret": webSecret}
	p := redeemWeb(g.code())
	g.want(g.token(p.with("resource", "https://evil.example")), 400, "invalid_target")
	g.want(g.token(p), 200, "") // the refusal did not burn the code
	for resource, want := range map[string]string{
		"":                      "https://api.example https://other.example",
		"https://other.example": "https://other.example",
		"https://other.example&resource=https://other.example": "https://other.example",
		"https://other.example&resource=https://api.example":   "https://api.example https://other.example",
	} {
		a := g.want(g.do("POST", tokenIssuer+"/token", job.encode()+"&resource="+resource), 200, "")
		g.alive(a.tokens.Access)
		access, err := g.verifier.Verify(t.Context(), a.tokens.Access)
		if err != nil || strings.Join(access.Audience, " ") != want {
			t.Errorf("%q: %v %v", resource, access, err)
		}
	}
	g.want(g.token(job.with("client_id", "job").with("scope", "read").with("resource", "https://other.example")), 400, "invalid_target")
	g.want(g.token(job.with("client_id", "job").with("scope", "read").with("resource", "https://api.example")), 200, "")
}

func TestClientAuthentication(t *testing.T) { // T07-T13
	g := newTokenRig(t)
	web := params{"grant_type": "client_credentials"}
	post := web.with("client_id", "web")
	spaces := url.QueryEscape("a b%")
	odd := webSecret + "+%:"
	spa := params{"grant_type": "refresh_token", "refresh_token": "x"}
	challenge := `Basic realm="gatehouse", charset="UTF-8"`
	for _, c := range []struct {
		name, authorization string
		form                params
		status              int
		code, challenge     string
	}{
		{"Basic", basic("web", webSecret), web, 200, "", ""},
		{"Basic in lower case", "basic" + basic("web", webSecret)[5:], web, 200, "", ""},
		{"Basic, form-encoded", basic(spaces, url.QueryEscape(odd)), web, 200, "", ""},
		{"Basic, raw", basic("a b%", odd), web, 200, "", ""},
		{"Basic and an equal client_id", basic("web", webSecret), post, 200, "", ""},
		{"Basic, form-encoded, and an equal client_id", basic(spaces, url.QueryEscape(odd)), web.with("client_id", "a b%"), 200, "", ""},
		{"post", "", post.with("client_secret", webSecret), 200, "", ""},
		{"post with odd characters", "", web.with("client_id", "a b%").with("client_secret", odd), 200, "", ""},
		{"Basic, wrong secret", basic("web", "wrong"), web, 401, "invalid_client", challenge},
		{"Basic, unknown client", basic("nobody", webSecret), web, 401, "invalid_client", challenge},
		{"Basic, secret of a longer name", basic("web", webSecret+"x"), web, 401, "invalid_client", challenge},
		{"Basic, empty secret of a confidential client", basic("web", ""), web, 401, "invalid_client", challenge},
		{"Basic, another client_id in the body", basic("web", webSecret), web.with("client_id", "job"), 400, "invalid_request", ""},
		{"Basic, the digest as secret", basic("web", secret.Digest(webSecret)), web, 401, "invalid_client", challenge},
		{"post, wrong secret", "", post.with("client_secret", "wrong"), 401, "invalid_client", ""},
		{"post, unknown client", "", web.with("client_id", "nobody").with("client_secret", "wrong"), 401, "invalid_client", ""},
		{"post, no secret", "", post, 401, "invalid_client", ""},
		{"nothing at all", "", web, 401, "invalid_client", ""},
		{"a secret without client_id", "", web.with("client_secret", webSecret), 401, "invalid_client", ""},
		{"an assertion", "", post.with("client_assertion", "x"), 401, "invalid_client", ""},
		{"both ways", basic("web", webSecret), web.with("client_secret", webSecret), 400, "invalid_request", ""},
		{"Basic and an assertion", basic("web", webSecret), web.with("client_assertion", "x"), 400, "invalid_request", ""},
		{"another scheme", "Bearer " + webSecret, post, 401, "invalid_client", challenge},
		{"no base64", "Basic %%%", web, 400, "invalid_request", ""},
		{"base64 without padding", "Basic " + base64.RawStdEncoding.EncodeToString([]byte("web:x")), web, 400, "invalid_request", ""},
		{"no colon", "Basic " + base64.StdEncoding.EncodeToString([]byte("web")), web, 400, "invalid_request", ""},
		{"no id", basic("", webSecret), web, 400, "invalid_request", ""},
		{"nothing in Basic", "Basic ", web, 400, "invalid_request", ""},
		{"only the scheme", "Basic", web, 400, "invalid_request", ""},
		{"not UTF-8", basic("\xff", "x"), web, 400, "invalid_request", ""},
		{"NUL", basic("web\x00", "x"), web, 400, "invalid_request", ""},
		{"a long header", basic("web", strings.Repeat("x", 8<<10)), web, 400, "invalid_request", ""},
		{"a long secret", basic("web", strings.Repeat("x", 4<<10)), web, 401, "invalid_client", challenge},
		{"a long client_id", "", web.with("client_id", strings.Repeat("x", 4<<10)), 401, "invalid_client", ""},
		{"public", "", spa.with("client_id", "spa"), 400, "invalid_grant", ""},
		{"public by Basic with an empty secret", basic("spa", ""), spa, 400, "invalid_grant", ""},
		{"public by Basic with an empty secret and client_id", basic("spa", ""), spa.with("client_id", "spa"), 400, "invalid_grant", ""},
		{"public with an empty client_secret", "", spa.with("client_id", "spa"), 400, "invalid_grant", ""},
		{"public with a secret", "", spa.with("client_id", "spa").with("client_secret", "x"), 401, "invalid_client", ""},
		{"public with a secret by Basic", basic("spa", "x"), spa, 401, "invalid_client", challenge},
	} {
		t.Run(c.name, func(t *testing.T) {
			g.pass(time.Minute)
			header := []string{"Authorization", c.authorization}
			a := g.want(g.token(c.form, header...), c.status, c.code)
			if got := a.header.Get("WWW-Authenticate"); got != c.challenge {
				t.Errorf("WWW-Authenticate: %q, want %q", got, c.challenge)
			}
		})
	}
}

func TestTooManyFailuresAreThrottledByClientAndAddress(t *testing.T) { // T21
	g := newTokenRig(t)
	job := params{"grant_type": "client_credentials"}
	for range 10 {
		g.want(g.token(job, "Authorization", basic("web", "wrong")), 401, "invalid_client")
	}
	a := g.want(g.token(job, "Authorization", basic("web", "wrong")), 429, "slow_down")
	if a.header.Get("Retry-After") != "60" {
		t.Errorf("Retry-After: %q", a.header.Get("Retry-After"))
	}
	g.want(g.token(job.with("client_id", "web").with("client_secret", webSecret)), 429, "slow_down")
	if g.metrics.last() != "client_credentials slow_down" {
		t.Error(g.metrics.last())
	}
	g.want(g.token(job, "Authorization", basic("w%65b", "wrong")), 429, "slow_down")
	g.want(g.token(job.with("scope", "read"), "Authorization", basic("job", webSecret)), 200, "")
	g.from("192.0.2.2")
	g.want(g.token(job, "Authorization", basic("web", webSecret)), 200, "")
	g.from("192.0.2.1")
	g.pass(time.Minute)
	g.want(g.token(job, "Authorization", basic("web", webSecret)), 200, "")
	g.from("2001:db8::1")
	for range 10 {
		g.want(g.token(job, "Authorization", basic("web", "wrong")), 401, "invalid_client")
	}
	g.from("2001:db8::2")
	g.want(g.token(job, "Authorization", basic("web", "wrong")), 429, "slow_down")
}

func TestOnlyFailedSecretsAreCounted(t *testing.T) { // T21
	g := newTokenRig(t)
	for range 50 {
		g.want(g.token(params{"grant_type": "client_credentials"}, "Authorization", basic("web", webSecret)), 200, "")
		g.want(g.token(params{"grant_type": "refresh_token", "refresh_token": "x", "client_id": "app"}), 400, "invalid_grant")
	}
	// An address that guesses without a client is not throttled into a hint.
	for range 10 {
		g.want(g.token(params{"grant_type": "x"}, "Authorization", basic("nobody", "wrong")), 401, "invalid_client")
	}
	g.want(g.token(params{"grant_type": "x"}, "Authorization", basic("nobody", "wrong")), 429, "slow_down")
}

func TestWhatIsDownIsNeverAnAuthenticationAnswer(t *testing.T) { // T24
	down := errors.New("down")
	for name, fail := range map[string]func(*tokenRig){
		"store":     func(g *tokenRig) { g.store.Fail(down) },
		"directory": func(g *tokenRig) { g.users.Fail(down) },
		"clients":   func(g *tokenRig) { g.clients.fault = down },
		"keys":      func(g *tokenRig) { g.tokens.fault = down },
	} {
		t.Run(name, func(t *testing.T) {
			g := newTokenRig(t)
			refresh, code := refreshWeb(g.begin().tokens.Refresh), redeemWeb(g.code())
			fail(g)
			for _, p := range []params{refresh, code} {
				if a := g.want(g.token(p), 503, "temporarily_unavailable"); strings.Contains(a.body, "down") {
					t.Errorf("the cause is told: %s", a.body)
				}
			}
			if !strings.Contains(g.log.String(), "down") {
				t.Error("the operator is not told")
			}
			g.store.Fail(nil)
			g.users.Fail(nil)
			g.clients.fault, g.tokens.fault = nil, nil
			for _, p := range []params{refresh, code} {
				g.want(g.token(p), 200, "")
			}
		})
	}
}

func TestCORSIsForRegisteredOriginsOnly(t *testing.T) { // T19, A36
	g := newTokenRig(t)
	token, keys := tokenIssuer+"/token", tokenIssuer+"/.well-known/jwks.json"
	for _, c := range []struct {
		name, method, target, origin string
		status                       int
		allowed                      string
	}{
		{"a registered origin", "POST", token, "https://spa.example", 400, "https://spa.example"},
		{"its preflight", "OPTIONS", token, "https://spa.example", 204, "https://spa.example"},
		{"another method", "GET", token, "https://spa.example", 405, "https://spa.example"},
		{"an unknown origin", "POST", token, "https://evil.example", 400, ""},
		{"its preflight", "OPTIONS", token, "https://evil.example", 204, ""},
		{"a prefix", "OPTIONS", token, "https://spa.example.evil.example", 204, ""},
		{"another scheme", "OPTIONS", token, "http://spa.example", 204, ""},
		{"a confidential client's redirect address", "OPTIONS", token, "https://web.example", 204, ""},
		{"null", "OPTIONS", token, "null", 204, ""},
		{"none", "POST", token, "", 400, ""},
		{"keys", "GET", keys, "https://evil.example", 200, "*"},
		{"preflight of the keys", "OPTIONS", keys, "https://evil.example", 204, "*"},
		{"metadata", "GET", "https://id.example/.well-known/oauth-authorization-server/auth", "https://evil.example", 200, "*"},
		{"authorize", "GET", tokenIssuer + "/authorize", "https://spa.example", 0, ""},
		{"preflight of authorize", "OPTIONS", tokenIssuer + "/authorize", "https://spa.example", 405, ""},
		{"login", "OPTIONS", tokenIssuer + "/login", "https://spa.example", 405, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			a := g.do(c.method, c.target, "", "Origin", c.origin, "Access-Control-Request-Method", "POST")
			if c.status != 0 && a.status != c.status {
				t.Errorf("status %d, want %d", a.status, c.status)
			}
			if got := a.header.Get("Access-Control-Allow-Origin"); got != c.allowed {
				t.Errorf("allowed %q, want %q", got, c.allowed)
			}
			if _, ok := a.header["Access-Control-Allow-Credentials"]; ok {
				t.Error("credentials are allowed")
			}
			if c.target == token && a.header.Get("Vary") != "Origin" {
				t.Error("no Vary: Origin")
			}
			if c.allowed != "" && c.method == http.MethodOptions && !strings.Contains(a.header.Get("Access-Control-Allow-Headers"), "Authorization") {
				t.Error("the preflight allows no Authorization")
			}
		})
	}
}
