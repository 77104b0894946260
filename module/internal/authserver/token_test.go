package authserver_test

import (
	"errors"
	"strings"
	"testing"
	"time"
)

func TestTokenRequestIsParsedStrictly(t *testing.T) { // T01-T05, T22, T25
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
		{"no device code", "POST", "", job.with("grant_type", "urn:ietf:params:oauth:grant-type:device_code").encode(), nil, 400, "invalid_request"},
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

func TestTokenAnswerFollowsRFC6749(t *testing.T) { // T17, T18, C01
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
		len(access.Audience) != 2 || access.Expires.Sub(access.IssuedAt.Time()) != time.Hour {
		t.Errorf("%+v", access)
	}
	if g.metrics.last() != "authorization_code issued" {
		t.Errorf("counted as %q", g.metrics.last())
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

func TestOutageIsNeverAnAuthenticationError(t *testing.T) { // T24
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
