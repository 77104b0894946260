package guard

import (
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/gatehouse/gatehouse/module/internal/token"
)

// Some upstreams decode a path before they cut off the query or the fragment.
func TestEncodedMarkReachesNoOtherRule(t *testing.T) {
	rules := []Rule{
		{Scopes: []string{"admin"}, Paths: []string{"/admin", "/admin/*"}},
		{Scopes: []string{"articles:write"}, Paths: []string{"/articles/*/edit"}},
		{Scopes: []string{"articles:read"}, Paths: []string{"/articles/*"}},
		{Public: true, Paths: []string{"/public", "/public/*", "/wiki/*"}},
		{Scopes: []string{"articles:read"}, Paths: []string{"/wiki"}},
		{Scopes: []string{"articles:read"}, Paths: []string{"/slashes/*"}, AllowEncodedSlash: true},
	}
	closed := build(t, func(c *Config) { c.Rules = rules })
	open := build(t, func(c *Config) { c.Rules, c.Otherwise = rules, Token })
	for _, c := range []struct {
		target, token  string
		closed, opened Reason
	}{
		{"/admin%3F", "read", NoRule, InsufficientScope},
		{"/admin%3f", "", NoRule, NoCredentials},
		{"/ADMIN%3fx=/public", "read", NoRule, InsufficientScope},
		{"/admin%23", "read", NoRule, InsufficientScope},
		{"/admin/x%23y%3Fz", "read", InsufficientScope, InsufficientScope},
		{"/admin%3Fx%23y", "read", NoRule, InsufficientScope},
		{"/admin%23x%3Fy", "read", NoRule, InsufficientScope},
		{"/admin%3F/../public", "read", BadRequest, BadRequest},
		{"/admin%253F", "read", BadRequest, BadRequest}, // as any other double encoding
		{"/admin%2523", "read", BadRequest, BadRequest},
		{"/public/..%3F", "read", BadRequest, BadRequest}, // a dot segment in front
		{"/public/.%23x", "read", BadRequest, BadRequest},
		{"/slashes/a%2F..%3F", "read", BadRequest, BadRequest},
		{"/slashes/a%2Fb%3F", "read", Valid, Valid},
		{"/slashes%2Fb%3F", "read", BadRequest, BadRequest},
		// Titles with such a character.
		{"/articles/What%3F", "read", Valid, Valid},
		{"/articles/What%3F", "", NoCredentials, NoCredentials},
		{"/articles/C%23", "read", Valid, Valid},
		{"/wiki/What%3F", "", Public, Public},
		{"/wiki/What%3F/C%23", "", Public, Public},
		{"/public/%3F", "", Public, Public},
		// The token needs the scopes of both rules.
		{"/articles/What%3F/edit", "read", InsufficientScope, InsufficientScope},
		{"/articles/What%3F/edit", "writer", InsufficientScope, InsufficientScope},
		{"/articles/What%3F/edit", "both", Valid, Valid},
		{"/articles/What%3F/edit", "", NoCredentials, NoCredentials},
		// Only one of both is public.
		{"/public%3F", "", NoRule, NoCredentials},
		{"/public%3F", "none", NoRule, Valid},
		{"/wiki%3F/x", "", NoRule, NoCredentials}, // the whole is /wiki?/x
		{"/wiki%3F/x", "none", NoRule, InsufficientScope},
		{"/wiki/%3F", "", Public, Public},
		{"/none%3F", "read", NoRule, Valid},
		// What follows is a query for them.
		{"/articles/1%3F_method=DELETE", "read", BadRequest, BadRequest},
		{"/articles/1%3Fa=b%26X-HTTP-Method-Override=DELETE", "read", BadRequest, BadRequest},
	} {
		for g, want := range map[*Guard]Reason{closed: c.closed, open: c.opened} {
			r := request("GET", c.target)
			access := withWriter()[c.token]
			if c.token != "" {
				r.Header.Set("Authorization", "Bearer "+c.token)
			}
			g.config.Verifier = withWriter()
			if d := g.Decide(r); d.Reason != want {
				t.Errorf("%s with %q: %+v, want %s", c.target, c.token, d, want)
			}
			permitted := g.Permits(access, "GET", c.target)
			if overrides := strings.Contains(c.target, "ethod"); permitted != (want == Valid || want == Public) && !overrides {
				t.Errorf("%s with %q: permitted %t", c.target, c.token, permitted)
			}
		}
	}
}

func withWriter() tokens {
	all := known()
	all["writer"] = access(nil, "articles:write")
	return all
}

func TestDecisionOfTwoReadings(t *testing.T) {
	g := build(t, func(c *Config) {
		c.Otherwise = Token
		c.Rules = []Rule{
			{Scopes: []string{"articles:write", "shared"}, Paths: []string{"/articles/*/edit"}},
			{Scopes: []string{"shared", "articles:read"}, Paths: []string{"/articles/*"}},
			{Public: true, Paths: []string{"/*"}, Methods: []string{"GET"}},
		}
	})
	for _, c := range []struct {
		method, target string
		rule           int
		scopes         []string
		public         bool
	}{
		{"GET", "/articles/1%3F/edit", 0, []string{"articles:read", "articles:write", "shared"}, false},
		{"GET", "/articles/1/edit%3F", 0, []string{"articles:read", "articles:write", "shared"}, false},
		{"GET", "/articles/1/edit", 0, []string{"articles:write", "shared"}, false},
		{"GET", "/articles/1%3Fx", 1, []string{"shared", "articles:read"}, false},
		{"GET", "/articles%3F/edit", 2, nil, true},
		{"POST", "/articles/%3Fx", 1, []string{"shared", "articles:read"}, false},
		{"POST", "/articles%3F", -1, nil, false},
	} {
		if d := g.Decide(request(c.method, c.target)); d.Rule != c.rule {
			t.Errorf("%s %s: %+v, want rule %d", c.method, c.target, d, c.rule)
		}
		scopes, public, denied := g.Needs(c.method, c.target)
		if !slices.Equal(scopes, c.scopes) || public != c.public || denied {
			t.Errorf("%s %s needs %q, public %t, denied %t", c.method, c.target, scopes, public, denied)
		}
	}
	want := `Bearer realm="articles", scope="articles:read articles:write shared"`
	if d := g.Decide(request("GET", "/articles/1%3F/edit")); d.Challenge != want {
		t.Errorf("the challenge is %s", d.Challenge)
	}
}

func TestPreflightOfTwoReadings(t *testing.T) {
	upstream := build(t, func(c *Config) { c.CORSUpstream = true })
	own := build(t, func(c *Config) { c.CORS = []string{reader} })
	for target, want := range map[string]bool{"/articles/What%3F": true, "/articles%3F": false, "/public%3F": false, "/public/%3F": true, "/public/..%3F": false} {
		r := request("OPTIONS", target, "Origin", reader, "Access-Control-Request-Method", "GET")
		if d := upstream.Decide(r); d.Allowed != want {
			t.Errorf("%s: %+v, want %t", target, d, want)
		}
		r.Header.Set("Access-Control-Request-Method", "PROPFIND")
		if got := strings.Contains(own.CORS(r).methods, "PROPFIND"); got != (target == "/public/%3F") {
			t.Errorf("%s: PROPFIND is listed: %t", target, got)
		}
	}
}

// Whoever may send a path may send what is in front of its marks.
func TestPermittedPathHasPermittedFronts(t *testing.T) {
	rules := build(t, nil)
	segment := rapid.SampledFrom([]string{"articles", "admin", "public", "health", "x", "%3F", "%23", "%3f", "..", "."})
	rapid.Check(t, func(t *rapid.T) {
		var path strings.Builder
		for _, s := range rapid.SliceOfN(segment, 1, 6).Draw(t, "segments") {
			path.WriteString(rapid.SampledFrom([]string{"/", "/", ""}).Draw(t, "slash") + s)
		}
		at := "/" + strings.TrimPrefix(path.String(), "/")
		method := rapid.SampledFrom([]string{"GET", "POST"}).Draw(t, "method")
		for _, access := range []*token.Access{nil, known()["read"], known()["both"]} {
			if !rules.Permits(access, method, at) {
				continue
			}
			for _, front := range OtherReadings(&url.URL{Path: mustUnescape(t, at), RawPath: at}) {
				if !rules.Permits(access, method, front) {
					t.Fatalf("%s %s is permitted, %s is not", method, at, front)
				}
			}
		}
	})
}

func mustUnescape(t *rapid.T, path string) string {
	decoded, err := url.PathUnescape(path)
	if err != nil {
		t.Fatal(err)
	}
	return decoded
}

func TestOtherReadings(t *testing.T) {
	for target, want := range map[string][]string{
		"/a": nil, "/a?b": nil, "/a%20b": nil, "/a%3fb": {"/a"}, "/%61%20b%3Fc%23d": {"/a%20b", "/a%20b%3Fc"}, "/a%23b%3Fc": {"/a%23b", "/a"}, "/%3F": {"/"},
	} {
		if got := OtherReadings(request("GET", target).URL); !slices.Equal(got, want) {
			t.Errorf("%s: %q, want %q", target, got, want)
		}
	}
}

func TestMethodIsOverriddenBehindAnEncodedMark(t *testing.T) {
	for target, want := range map[string]bool{"/a%3F_method=PUT": true, "/a%3Fx%26_method=PUT": true, "/a%3Fmethod=PUT": false, "/a_method=PUT": false} {
		r := request("GET", target)
		if got := MayOverrideMethod(r); got != want {
			t.Errorf("%s: %t", target, got)
		}
		if d := build(t, nil).Decide(r); want && (d.Status != http.StatusBadRequest || d.Field != "_method") {
			t.Errorf("%s: %+v", target, d)
		}
	}
}
