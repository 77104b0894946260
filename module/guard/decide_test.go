package guard

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/gatehouse/gatehouse/module/internal/lockout"
	"github.com/gatehouse/gatehouse/module/internal/token"
)

const (
	issuer = "https://id.example.com"
	api    = "https://api.example.com"
)

var noon = time.Unix(1_900_000_000, 0)

// tokens is a verifier that knows its tokens by their text.
type tokens map[string]*token.Access

var errAway = errors.New("the store is away")

func (v tokens) Verify(_ context.Context, raw string) (*token.Access, error) {
	switch {
	case raw == "away":
		return nil, errAway
	case raw == "nothing":
		return nil, nil
	case raw == "revoked":
		return nil, token.Refuse(token.Revoked, access(nil))
	case strings.HasPrefix(raw, "forged"):
		return nil, token.Refuse(token.BadSignature, nil)
	case v[raw] == nil:
		return nil, token.ErrInvalid
	}
	return v[raw], nil
}

func access(change func(*token.Access), scopes ...string) *token.Access {
	a := &token.Access{
		Issuer: issuer, Subject: "u1", Client: "reader", Audience: []string{api}, Scopes: scopes, Expires: noon.Add(time.Hour),
	}
	if change != nil {
		change(a)
	}
	return a
}

func known() tokens {
	return tokens{
		"read":      access(nil, "articles:read"),
		"both":      access(nil, "openid", "articles:write", "articles:read"),
		"none":      access(nil),
		"root":      access(nil, "administrator", "admin2", "ADMIN", "articles:read:all"),
		"issuer":    access(func(a *token.Access) { a.Issuer = issuer + "/" }, "articles:read"),
		"audience":  access(func(a *token.Access) { a.Audience = []string{api + "/"} }, "articles:read"),
		"nobody":    access(func(a *token.Access) { a.Audience = nil }, "articles:read"),
		"empty":     access(func(a *token.Access) { a.Audience = []string{""} }, "articles:read"),
		"many":      access(func(a *token.Access) { a.Audience = []string{"https://other.example", api} }, "articles:read"),
		"expired":   access(func(a *token.Access) { a.Expires = noon }, "articles:read"),
		"endless":   access(func(a *token.Access) { a.Subject = strings.Repeat("s", 10<<10) }, "articles:read"),
		"bigclient": access(func(a *token.Access) { a.Client = strings.Repeat("s", 1025) }, "articles:read"),
	}
}

func build(t testing.TB, change func(*Config)) *Guard {
	t.Helper()
	c := Config{
		Verifier: known(), Issuer: issuer, Audience: api, Realm: "articles", Now: func() time.Time { return noon },
		Rules: []Rule{
			{Public: true, Methods: []string{"GET"}, Paths: []string{"/health"}},
			{Scopes: []string{"articles:read"}, Methods: []string{"GET", "HEAD"}, Paths: []string{"/articles", "/articles/*"}},
			{Scopes: []string{"articles:write", "articles:read"}, Methods: []string{"POST"}, Paths: []string{"/articles"}},
			{Scopes: []string{"admin"}, Paths: []string{"/admin", "/admin/*"}},
			{Public: true, Paths: []string{"/public/*"}},
		},
	}
	if change != nil {
		change(&c)
	}
	g, err := New(c)
	if err != nil {
		t.Fatal(err)
	}
	return g
}

// request has a target as net/http reads it from the wire.
func request(method, target string, header ...string) *http.Request {
	u, err := url.ParseRequestURI(target)
	if err != nil {
		panic(err)
	}
	r := httptest.NewRequest(method, "/", nil)
	r.RequestURI, r.URL = target, u
	for i := 0; i+1 < len(header); i += 2 {
		r.Header.Add(header[i], header[i+1])
	}
	return r
}

func TestDecisions(t *testing.T) {
	const bare = `Bearer realm="articles"`
	const read = `, scope="articles:read"`
	const invalid = bare + `, error="invalid_token", error_description="the access token is invalid, expired or revoked"` + read
	const asked = bare + `, error="invalid_request"`
	lacks := func(scope string) string { return bare + `, error="insufficient_scope", scope="` + scope + `"` }
	g := build(t, nil)
	for _, c := range []struct {
		name, method, target, authorization string
		reason                              Reason
		status                              int
		code, challenge                     string
	}{
		{"G01 no credentials", "GET", "/articles", "", NoCredentials, 401, "unauthorized", bare + read},
		{"G01 another scheme", "GET", "/articles", "Basic dTpw", NoCredentials, 401, "unauthorized", bare + read},
		{"G01 a scheme that begins alike", "GET", "/articles", "BearerX read", NoCredentials, 401, "unauthorized", bare + read},
		{"G02 garbage", "GET", "/articles", "Bearer garbage", InvalidToken, 401, "invalid_token", invalid},
		{"G02 too long", "GET", "/articles", "Bearer " + strings.Repeat(".", 17<<10), InvalidToken, 401, "invalid_token", invalid},
		{"G21 expired by our clock", "GET", "/articles", "Bearer expired", InvalidToken, 401, "invalid_token", invalid},
		{"G03 no scope", "GET", "/articles", "Bearer none", InsufficientScope, 403, "insufficient_scope", lacks("articles:read")},
		{"G03 one of two scopes", "POST", "/articles", "Bearer read", InsufficientScope, 403, "insufficient_scope", lacks("articles:write articles:read")},
		{"G03 both", "POST", "/articles", "Bearer both", Valid, 0, "", ""},
		{"G04 scopes are whole words", "GET", "/admin", "Bearer root", InsufficientScope, 403, "insufficient_scope", lacks("admin")},
		{"G04 longer", "GET", "/articles", "Bearer root", InsufficientScope, 403, "insufficient_scope", lacks("articles:read")},
		{"G05 malformed", "GET", "/articles", "Bearer", BadRequest, 400, "invalid_request", asked},
		{"G05 spaces alone", "GET", "/articles", "Bearer   ", BadRequest, 400, "invalid_request", asked},
		{"G05 two in one", "GET", "/articles", "Bearer read, Bearer read", BadRequest, 400, "invalid_request", asked},
		{"G05 two words", "GET", "/articles", "Bearer read both", BadRequest, 400, "invalid_request", asked},
		{"G05 quoted", "GET", "/articles", `Bearer "read"`, BadRequest, 400, "invalid_request", asked},
		{"G05 not ASCII", "GET", "/articles", "Bearer réad", BadRequest, 400, "invalid_request", asked},
		{"G05 padding alone", "GET", "/articles", "Bearer ==", BadRequest, 400, "invalid_request", asked},
		{"G05 padding inside", "GET", "/articles", "Bearer a=b", BadRequest, 400, "invalid_request", asked},
		{"G05 a tab", "GET", "/articles", "Bearer\tread", BadRequest, 400, "invalid_request", asked},
		{"G05 no scheme", "GET", "/articles", ":read", BadRequest, 400, "invalid_request", asked},
		{"G06 in the query", "GET", "/articles?access_token=read", "", BadRequest, 400, "invalid_request", asked},
		{"G06 behind an encoded ?", "GET", "/articles%3Fx=1%26access_token=read", "Bearer read", BadRequest, 400, "invalid_request", asked},
		{"G06 in both", "GET", "/articles?a=1&access_token=read", "Bearer read", BadRequest, 400, "invalid_request", asked},
		{"G06 on a public route", "GET", "/health?access_token=", "", BadRequest, 400, "invalid_request", asked},
		{"G07 lower case", "GET", "/articles", "bearer read", Valid, 0, "", ""},
		{"G07 upper case", "GET", "/articles", "BEARER read", Valid, 0, "", ""},
		{"G07 mixed case and spaces", "GET", "/articles", "bEARER  read", Valid, 0, "", ""},
		{"G15 issuer with a slash", "GET", "/articles", "Bearer issuer", InvalidToken, 401, "invalid_token", invalid},
		{"G15 wrong audience", "GET", "/articles", "Bearer audience", InvalidToken, 401, "invalid_token", invalid},
		{"G15 no audience", "GET", "/articles", "Bearer nobody", InvalidToken, 401, "invalid_token", invalid},
		{"G15 empty audience", "GET", "/articles", "Bearer empty", InvalidToken, 401, "invalid_token", invalid},
		{"G15 one of several", "GET", "/articles", "Bearer many", Valid, 0, "", ""},
		{"G32 endless subject", "GET", "/articles", "Bearer endless", InvalidToken, 401, "invalid_token", invalid},
		{"G32 endless client", "GET", "/articles", "Bearer bigclient", InvalidToken, 401, "invalid_token", invalid},
		{"G36 TRACE", "TRACE", "/health", "Bearer read", BadRequest, 405, "method_not_allowed", ""},
		{"G36 CONNECT", "CONNECT", "/health", "", BadRequest, 405, "method_not_allowed", ""},
		{"G36 TRACK", "TRACK", "/public/x", "", BadRequest, 405, "method_not_allowed", ""},
		{"lower-case method", "get", "/public/x", "", BadRequest, 400, "bad_request", ""},
		{"G37 technical fault", "GET", "/articles", "Bearer away", Unavailable, 503, "unavailable", ""},
		{"G37 broken verifier", "GET", "/articles", "Bearer nothing", Unavailable, 503, "unavailable", ""},
		{"public", "GET", "/health", "", Public, 0, "", ""},
		{"public with whatever token", "GET", "/health", "Bearer ,garbage", Public, 0, "", ""},
		{"public for GET alone", "HEAD", "/health", "", NoRule, 403, "forbidden", ""},
		{"public without the slash", "GET", "/health/", "", NoRule, 403, "forbidden", ""},
		{"no rule, even with a token", "GET", "/other", "Bearer both", NoRule, 403, "forbidden", ""},
		{"HEAD where listed", "HEAD", "/articles/7", "Bearer read", Valid, 0, "", ""},
		{"method not listed", "DELETE", "/articles/7", "Bearer both", NoRule, 403, "forbidden", ""},
		{"OPTIONS that is no preflight", "OPTIONS", "/articles", "Bearer read", NoRule, 403, "forbidden", ""},
		{"any method", "PURGE", "/public/x", "", Public, 0, "", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := request(c.method, c.target)
			if c.authorization != "" {
				r.Header["Authorization"] = []string{c.authorization}
			}
			d := g.Decide(r)
			if d.Reason != c.reason || d.Status != c.status || d.Code != c.code || d.Challenge != c.challenge {
				t.Fatalf("got %+v", d)
			}
			if !slices.Contains(Reasons, d.Reason) || d.Allowed != (c.status == 0) || d.Allowed == (d.Message != "") {
				t.Errorf("got %+v", d)
			}
			if (d.Access != nil) != (d.Reason == Valid) || (d.RetryAfter > 0) != (c.status == 503) || (d.Allow != "") != (c.status == 405) {
				t.Errorf("got %+v", d)
			}
			if d.Redact != strings.Contains(c.target, "access_token") || (d.Err != nil) != (c.status == 503) {
				t.Errorf("got %+v", d)
			}
		})
	}
}

func TestTwoAuthorizationHeadersAreRefused(t *testing.T) { // G05
	g := build(t, nil)
	for _, pair := range [][]string{{"Bearer read", "Bearer read"}, {"Bearer read", "Basic dTpw"}, {"", "Bearer read"}} {
		r := request("GET", "/articles")
		r.Header["Authorization"] = pair
		if d := g.Decide(r); d.Status != 400 || d.Code != "invalid_request" {
			t.Errorf("%q: %+v", pair, d)
		}
	}
	r := request("GET", "/articles")
	r.Header["Authorization"] = []string{""}
	if d := g.Decide(r); d.Status != 401 || d.Reason != NoCredentials {
		t.Errorf("an empty field is no credential: %+v", d)
	}
}

func TestDecisionHeader(t *testing.T) {
	h := http.Header{}
	d := Decision{Challenge: "Bearer", RetryAfter: 7, Allow: "GET"}
	d.SetHeader(h)
	if h.Get("WWW-Authenticate") != "Bearer" || h.Get("Retry-After") != "7" || h.Get("Allow") != "GET" {
		t.Fatal(h)
	}
	h = http.Header{}
	(&Decision{}).SetHeader(h)
	if len(h) != 0 {
		t.Fatal(h)
	}
}

func TestNoMatchingRule(t *testing.T) {
	for _, c := range []struct {
		name   string
		change func(*Config)
		path   string
		auth   string
		want   Reason
	}{
		{"otherwise token, valid", func(c *Config) { c.Otherwise = Token }, "/other", "Bearer none", Valid},
		{"otherwise token, missing", func(c *Config) { c.Otherwise = Token }, "/other", "", NoCredentials},
		{"otherwise token does not soften a rule", func(c *Config) { c.Otherwise = Token }, "/admin", "Bearer both", InsufficientScope},
		{"no rules, valid", func(c *Config) { c.Rules = nil }, "/other", "Bearer none", Valid},
		{"no rules, missing", func(c *Config) { c.Rules = nil }, "/other", "", NoCredentials},
		{"no rules, bad path", func(c *Config) { c.Rules = nil }, "/a/../b", "Bearer none", BadRequest},
	} {
		d := build(t, c.change).Decide(request("GET", c.path, "Authorization", c.auth))
		if d.Reason != c.want || d.Allowed && d.Rule != -1 {
			t.Errorf("%s: %+v", c.name, d)
		}
	}
}

func TestFirstMatchingRuleDecides(t *testing.T) {
	g := build(t, func(c *Config) {
		c.Rules = []Rule{
			{Scopes: []string{"admin"}, Paths: []string{"/docs/internal", "/docs/internal/*"}},
			{Public: true, Paths: []string{"/docs/*"}},
		}
	})
	for _, path := range []string{"/docs/internal", "/docs/internal/", "/docs/internal/x", "/docs/INTERNAL", "/DOCS/internal/x", "/docs/%69nternal"} {
		if d := g.Decide(request("GET", path, "Authorization", "Bearer read")); d.Reason != InsufficientScope || d.Rule != 0 {
			t.Errorf("%s: %+v", path, d)
		}
	}
	for path, want := range map[string]Reason{"/docs/x": Public, "/docs/": Public, "/docs": NoRule, "/Docs/x": NoRule} {
		if d := g.Decide(request("GET", path)); d.Reason != want {
			t.Errorf("%s: %+v", path, d)
		}
	}
}

func TestEachGuardChecksTokensItself(t *testing.T) { // G22: one verifier, two audiences
	v := known()
	a, err := New(Config{Verifier: v, Issuer: issuer, Audience: api, Now: func() time.Time { return noon }})
	if err != nil {
		t.Fatal(err)
	}
	b, err := New(Config{Verifier: v, Issuer: issuer, Now: func() time.Time { return noon }})
	if err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if d := a.Decide(request("GET", "/x", "Authorization", "Bearer read")); d.Reason != Valid {
			t.Fatalf("%+v", d)
		}
		if d := b.Decide(request("GET", "/x", "Authorization", "Bearer read")); d.Reason != InvalidToken || !strings.Contains(d.Challenge, issuer) {
			t.Fatalf("%+v", d)
		}
	}
}

func TestSurprisingConfigsAreRefused(t *testing.T) {
	rule := func(change func(*Rule)) func(*Config) {
		return func(c *Config) {
			r := Rule{Scopes: []string{"s"}, Methods: []string{"GET"}, Paths: []string{"/x"}}
			change(&r)
			c.Rules = append(c.Rules, r)
		}
	}
	path := func(p string) func(*Config) { return rule(func(r *Rule) { r.Paths = []string{"/fine", p} }) }
	for _, c := range []struct {
		names  string // what the error must name
		change func(*Config)
	}{
		{"verifier", func(c *Config) { c.Verifier = nil }},
		{"issuer", func(c *Config) { c.Issuer = "" }},
		{"address", func(c *Config) { c.Attempts = lockout.NewBook(1, time.Now) }},
		{"otherwise", func(c *Config) { c.Otherwise = 7 }},
		{"realm", func(c *Config) { c.Realm = `a"b` }},
		{"realm", func(c *Config) { c.Realm = "a\r\nb" }},
		{`""`, path("")}, {`"x"`, path("x")}, {`"*"`, path("*")}, {`"/x*"`, path("/x*")}, {`"/*.php"`, path("/*.php")},
		{`"/x/**"`, path("/x/**")}, {`"/x//y"`, path("/x//y")}, {`"//"`, path("//")}, {`"/x/../y"`, path("/x/../y")}, {`"/."`, path("/.")},
		{`"/%61"`, path("/%61")}, {`"/x;y"`, path("/x;y")}, {`"/x?y"`, path("/x?y")}, {`"/x#y"`, path("/x#y")},
		{`"/{id}"`, path("/{id}")}, {`"/{env.X}"`, path("/{env.X}")}, {`"/x y"`, path("/x y")}, {`x\\y`, path(`/x\y`)}, {`\xff`, path("/\xff")},
		{`"/x\x00"`, path("/x\x00")},
		{"path", rule(func(r *Rule) { r.Paths = nil })},
		{"scope", rule(func(r *Rule) { r.Scopes = nil })},
		{"public", rule(func(r *Rule) { r.Public = true })},
		{`"a b"`, rule(func(r *Rule) { r.Scopes = []string{"a b"} })},
		{`"get"`, rule(func(r *Rule) { r.Methods = []string{"get"} })},
		{`""`, rule(func(r *Rule) { r.Methods = []string{""} })},
		{`"*"`, rule(func(r *Rule) { r.Methods = []string{"GET", "*"} })},
		{"TRACE", rule(func(r *Rule) { r.Methods = []string{"TRACE"} })},
		{`"/articles/7"`, rule(func(r *Rule) { r.Paths = []string{"/articles/7"} })},
		{`"/Articles/"`, rule(func(r *Rule) { r.Paths = []string{"/Articles/"} })},
		{`"/public/x/*"`, rule(func(r *Rule) { r.Paths = []string{"/public/x/*"} })},
		{`"/admin/*"`, rule(func(r *Rule) { r.Methods = nil; r.Paths = []string{"/admin/*"} })},
		{`"https://x.example/"`, func(c *Config) { c.CORS = []string{"https://x.example/"} }},
		{`"https://X.example"`, func(c *Config) { c.CORS = []string{"https://X.example"} }},
		{`"https://x.example:443"`, func(c *Config) { c.CORS = []string{"https://x.example:443"} }},
		{`"https://*.example"`, func(c *Config) { c.CORS = []string{"https://*.example"} }},
		{`"null"`, func(c *Config) { c.CORS = []string{"null"} }},
		{`"x.example"`, func(c *Config) { c.CORS = []string{"x.example"} }},
		{`"*"`, func(c *Config) { c.CORS = []string{"*", "https://x.example"} }},
	} {
		conf := Config{Verifier: known(), Issuer: issuer, Rules: []Rule{
			{Scopes: []string{"s"}, Methods: []string{"POST"}, Paths: []string{"/articles/*"}},
			{Scopes: []string{"s"}, Methods: []string{"GET"}, Paths: []string{"/articles", "/articles/*"}},
			{Public: true, Paths: []string{"/public/*"}},
			{Scopes: []string{"s"}, Paths: []string{"/admin/*"}},
		}}
		c.change(&conf)
		if _, err := New(conf); err == nil || !strings.Contains(err.Error(), c.names) {
			t.Errorf("%v, want an error that names %s", err, c.names)
		}
	}
}
