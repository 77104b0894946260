package guard

import (
	"net/http"
	"net/http/httptest"
	"net/url"
	"reflect"
	"strings"
	"testing"
	"unicode/utf8"

	"pgregory.net/rapid"
)

// guarded protects /admin and opens /public and everything that no one named.
func guarded(t testing.TB) *Guard {
	return build(t, func(c *Config) {
		c.Rules = []Rule{
			{Scopes: []string{"admin"}, Paths: []string{"/admin", "/admin/*"}},
			{Public: true, Paths: []string{"/*"}},
		}
	})
}

func TestPathSpellingsCannotBypassTheirRule(t *testing.T) { // G26
	g := guarded(t)
	for _, target := range []string{
		"/admin", "/admin/", "/ADMIN", "/Admin/x", "/%61dmin", "/%41DMIN", "/admin/.", "/admin/..", "/./admin", "/admin%2f", "/admin%2Fx",
		"/admin%00", "/%00admin", "/admin%252f", "/%2561dmin", "/admin%25%32%66", "/admin%u002f", "/admin%25u002f", "/admin\\", "/admin%5c", "/admin%5Cx", `\admin`,
		"/public/../admin", "/public/..%2fadmin", "/public/%2e%2e/admin", "/public/%2E./admin", "/public%2f..%2fadmin", "/public/..%5cadmin", `/public/..\admin`,
		"/public/..;/admin", "/public/..%3b/admin", "/admin;x=1", "/admin;/x", "/;/admin", "//admin", "///admin", "/public//../admin", "/admin//x", "/%2fadmin",
		"/admin#", "/admin#/public", "/public#/../admin", "/public%23/../admin", "http://x.example/admin", "http://x.example", "https://evil/public", "*", "",
		"/admin%0a", "/admin%0d%0aX: y", "/admin%7f", "/admin%09", "/admin%c2%80", "/%c0%ae%c0%ae/admin", "/public/%c0%ae%c0%ae%c0%af/admin", "/admin%ff",
		"/admin%2fb{", "/public/..%2fadmin{", "/admin/{x}", "/admin/%7Bx%7D", "/admin?/public", "/admin/?", "/admin%3f/public/..", "admin",
	} {
		u, err := url.ParseRequestURI(target)
		if err != nil {
			continue // net/http answers 400 itself
		}
		r := httptest.NewRequest("GET", "/", nil)
		r.RequestURI, r.URL = target, u
		if d := g.Decide(r); d.Allowed {
			t.Errorf("%q passes as %q: %+v", target, d.Path, d)
		}
	}
	for target, path := range map[string]string{
		"/public?/admin": "", "/public?x=/../admin": "", "/publi%63": "/public", "/a%7Eb": "/a~b", "/a%2ab": "/a%2Ab", "/a%2Ab": "",
		"/a*b": "", "/100%25": "", "/100%25x": "", "/%e6%96%87": "/%E6%96%87", "/%E6%96%87": "", "/a+b": "", "/a%2bb": "/a%2Bb", "/a@b:c,d=e": "",
		"/a{b}": "", "/...": "", "/.hidden/x..y": "", "/": "", "/a[1]": "/a%5B1%5D", "/(x)": "",
	} {
		d := g.Decide(request("GET", target))
		if !d.Allowed || d.Path != path {
			t.Errorf("%q: %+v, want %q", target, d, path)
		}
	}
}

// HTTP/2 and HTTP/3 carry a query with a space, which an HTTP/1 upstream takes for the end of the
// request target.
func TestQueryWithASpaceIsRefused(t *testing.T) {
	g := guarded(t)
	for _, target := range []string{"/public?a=b c", "/public?a=b HTTP/1.0", "/public? ", "/health? x"} {
		if d := g.Decide(request("GET", target)); d.Allowed || d.Status != 400 {
			t.Errorf("%q: %+v", target, d)
		}
	}
	for _, target := range []string{"/public?a=b+c", "/public?a=b%20c"} {
		if d := g.Decide(request("GET", target)); !d.Allowed {
			t.Errorf("%q: %+v", target, d)
		}
	}
}

// TestUpstreamSeesTheCheckedPath sends real request lines, since net/http
// has a word in what arrives.
func TestUpstreamSeesTheCheckedPath(t *testing.T) {
	g, seen := guarded(t), ""
	h := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		d := g.Decide(r)
		if !d.Allowed {
			w.WriteHeader(d.Status)
			return
		}
		if d.Path != "" {
			SetPath(r.URL, d.Path)
		}
		seen = r.URL.EscapedPath()
	})
	for target, want := range map[string]string{
		"/%70ublic/%7euser/%e6%96%87/a%2bb": "/public/~user/%E6%96%87/a%2Bb", "/x/a(b)*c": "/x/a(b)*c", "/x/a%28b": "/x/a%28b",
		"/x/a{b": "/x/a%7Bb", "/x/%22": "/x/%22", "/x/100%25": "/x/100%25",
	} {
		seen = ""
		h.ServeHTTP(httptest.NewRecorder(), request("GET", target))
		if seen != want {
			t.Errorf("%q is seen as %q, want %q", target, seen, want)
		}
	}
}

func TestStaleRawPathIsIgnored(t *testing.T) {
	g := guarded(t)
	r := request("GET", "/public/x")
	r.URL.Path, r.URL.RawPath = "/admin/x", "/public%2Fx"
	if d := g.Decide(r); d.Allowed {
		t.Fatalf("%+v", d)
	}
}

func TestEncodedSlashes(t *testing.T) {
	rules := []Rule{
		{Scopes: []string{"admin"}, Paths: []string{"/files/*/secret", "/admin/*"}, AllowEncodedSlash: true},
		{Public: true, Paths: []string{"/files/*"}, AllowEncodedSlash: true},
		{Public: true, Paths: []string{"/strict/*"}},
	}
	g := build(t, func(c *Config) { c.Rules = rules })
	for target, want := range map[string]Reason{
		"/files/a%2Fb":                     Public,
		"/files/a%2fb":                     Public,
		"/files/https:%2F%2Fx.example":     Public,
		"/files/a%2Fsecret":                BadRequest, // decoded, another rule decides
		"/files%2Fa":                       BadRequest,
		"/files/..%2F..%2Fadmin%2Fx":       BadRequest,
		"/files/a%2F..%2Fb":                BadRequest,
		"/files/a%2F.":                     BadRequest,
		"/files/a%5Cb":                     BadRequest,
		"/files/a%252Fb":                   BadRequest,
		"/files/%2Fsecret":                 Public,
		"/files/x%2F%2Fsecret":             BadRequest, // joined, another rule decides
		"/strict/a%2Fb":                    BadRequest,
		"/nowhere/a%2Fb":                   BadRequest,
		"/admin/a%2Fb":                     NoCredentials,
		"/files/a%2Fb/secret":              BadRequest,
		"/files/x%2Fsecret?access_token=1": BadRequest,
	} {
		if d := g.Decide(request("GET", target)); d.Reason != want {
			t.Errorf("%s: %+v, want %s", target, d, want)
		}
	}
	if d := g.Decide(request("GET", "/files/a%2fb")); d.Path != "/files/a%2Fb" {
		t.Errorf("%+v", d)
	}
	g = build(t, func(c *Config) { c.Rules = rules; c.AllowEncodedSlash = true })
	for target, want := range map[string]Reason{"/strict/a%2Fb": Public, "/strict/..%2Fadmin": BadRequest, "/nowhere/a%2Fb": NoRule} {
		if d := g.Decide(request("GET", target)); d.Reason != want {
			t.Errorf("for all: %s: %+v, want %s", target, d, want)
		}
	}
}

func TestPatterns(t *testing.T) {
	for _, c := range []struct {
		pattern, path string
		scope, public bool
	}{
		{"/a", "/a", true, true},
		{"/a", "/A", true, false},
		{"/a", "/a/", true, false},
		{"/a", "/a/b", false, false},
		{"/a", "/ab", false, false},
		{"/a", "/", false, false},
		{"/a/", "/a/", true, true},
		{"/a/", "/a", true, false},
		{"/a/*", "/a", false, false},
		{"/a/*", "/a/", true, true},
		{"/a/*", "/a/b", true, true},
		{"/a/*", "/A/b", true, false},
		{"/a/*", "/a/b/c/", true, true},
		{"/a/*", "/ab/c", false, false},
		{"/*", "/", true, true},
		{"/*", "/a/b", true, true},
		{"/", "/", true, true},
		{"/", "/a", false, false},
		{"/a/*/c", "/a/b/c", true, true},
		{"/a/*/c", "/a/b/C/", true, false},
		{"/a/*/c", "/a/b/x/c", false, false},
		{"/a/*/c", "/a/c", false, false},
		{"/a/*/c/*", "/a/b/c/", true, true},
		{"/a/*/c/*", "/a/b/c", false, false},
		{"/文/*", "/文/章", true, true},
		{"/É", "/é", true, false},
		{"/i", "/İ", true, false},
		{"/İ/*", "/ı/x", true, false},
	} {
		for exact, want := range map[bool]bool{false: c.scope, true: c.public} {
			p, err := compilePattern(c.pattern, exact)
			if err != nil {
				t.Fatal(err)
			}
			if got := p.match(c.path); got != want {
				t.Errorf("%s on %s, exact %v: %v", c.pattern, c.path, exact, got)
			}
		}
	}
}

func TestPatternMatchesWhatItCovers(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		gen := rapid.StringMatching(`(/(a|A|b|\*)){0,3}(/|/\*|/a)`)
		p, err := compilePattern(gen.Draw(t, "p"), rapid.Bool().Draw(t, "exact"))
		if err != nil {
			t.Fatal(err)
		}
		q, err := compilePattern(gen.Draw(t, "q"), p.exact)
		if err != nil {
			t.Fatal(err)
		}
		path := rapid.StringMatching(`(/(a|A|b|c)){0,4}/?`).Draw(t, "path")
		if path == "" {
			path = "/"
		}
		if p.covers(&q) && q.match(path) && !p.match(path) {
			t.Fatalf("%s covers %s, but does not match %s", p.text, q.text, path)
		}
	})
}

func TestQueryTokenIsFoundInAnySpelling(t *testing.T) {
	for query, want := range map[string]bool{
		"access_token=x": true, "access_token": true, "access_token=": true, "a=b&access_token=x": true, "access_token=x&access_token=y": true,
		"access%5Ftoken=x": true, "access%u005Ftoken=x": true, "%61ccess_token=x": true, "%61%63%63%65%73%73%5f%74%6f%6b%65%6e=": true, "ACCESS_Token=x": true, "a;access_token=x": true,
		"access.token=x": true, "access+token=x": true, "access%20token=x": true, "+%20access_token=x": true, "access[token=x": true, "access_token%00y=x": true, // PHP
		"[access_token]=x": true, "a=1&%5Baccess_token%5D[0]=x": true, "[]access_token=x": true, "[[access_token]]": true, "access_token]=x": true, "]access_token%5D]=x": true, // Rack, qs
		"a[access_token]=x": false, "[a]access_token=x": false,
		"access[token]=x": false, "access__token=x": false, "a+access_token=x": false, "access-token=x": false, "access_token+=x": false,
		"access_token[]=x": true, "access_token%5B0%5D=x": true, "&&access_token=x": true,
		"": false, "a=access_token": false, "a=access_token=x": false, "xaccess_token=x": false, "access_tokens=x": false, "access_toke=x": false,
		"access_token%3Dx": false, "token=x": false, "a=%26access_token=x": false, "%": false, "access_token%": false, "access_toke%6": false,
	} {
		if got := CarriesToken(query); got != want {
			t.Errorf("%q: %v", query, got)
		}
	}
}

// An upstream that heeds the parameter would run another method than the one that was judged: WordPress and ServiceStack for a GET, too.
func TestMethodInTheQueryIsRefusedInAnySpelling(t *testing.T) {
	g := build(t, nil)
	for query, refused := range map[string]bool{
		"_method=DELETE": true, "_method": true, "a=b&_METHOD=delete": true, "%5Fm%65thod=PUT": true, "a;_method=PUT": true, "_method=GET": true,
		"X-HTTP-Method-Override=PUT": true, "a=b&x-http-method=PUT": true, "X%2DMethod-override[0]=PUT": true, "%u0058-HTTP-Method-Override=PUT": true, // ServiceStack, ASP.NET
		"+_method=PUT": true, ".method=PUT": true, "_method%00=PUT": true, "_method[]=PUT": true, "[_method]=PUT": true, // PHP, qs
		"": false, "a=_method": false, "method=PUT": false, "x_method=PUT": false, "_methods=PUT": false, "a[_method]=PUT": false, "payment_method=card": false,
		"x-http-method-overrides=PUT": false, "http-method=PUT": false, "a=X-HTTP-Method-Override": false, "%u5f5fmethod=PUT": false, "%u005": false,
	} {
		for _, method := range []string{"GET", "POST"} {
			d := g.Decide(request(method, "/public/x?"+query))
			if want := map[bool]int{true: 400}[refused]; d.Status != want || d.Allowed == refused {
				t.Errorf("%s %q: %+v", method, query, d)
			}
		}
	}
}

// A limit without a guard in front counts such a request as the most expensive one.
func TestMethodOverridesAreRecognized(t *testing.T) {
	for name, want := range map[string]bool{
		"X-HTTP-Method-Override": true, "X-HTTP-Method": true, "X_Method_Override": true, "X-Original-URL": false, "X-HTTP-Methods": false,
	} {
		for query, inQuery := range map[string]bool{"a=b": false, "_method=PUT": true} {
			r := request("POST", "/public/x?"+query)
			r.Header[name] = []string{"PUT"}
			if got := MayOverrideMethod(r); got != (want || inQuery) {
				t.Errorf("%s, %s: %t", name, query, got)
			}
		}
	}
}

// checkNormal is what a path that passed must never be.
func checkNormal(t interface{ Fatalf(string, ...any) }, n normalPath) {
	for _, bad := range []string{"//", "\\", ";", "#", "?"} {
		if strings.Contains(n.escaped, bad) {
			t.Fatalf("%q contains %q", n.escaped, bad)
		}
	}
	for _, bad := range []string{"%00", "%5C", "%3B", "%2E", "%252F", "%2525"} {
		if strings.Contains(strings.ToUpper(n.escaped), bad) {
			t.Fatalf("%q contains %q", n.escaped, bad)
		}
	}
	for s := range strings.SplitSeq(n.decoded, "/") {
		if s == "." || s == ".." {
			t.Fatalf("%q has a dot segment", n.escaped)
		}
	}
	twice, err := url.PathUnescape(n.decoded)
	if err == nil && twice != n.decoded || !utf8.ValidString(n.decoded) {
		t.Fatalf("%q decodes again, to %q", n.escaped, twice)
	}
	u := &url.URL{}
	SetPath(u, n.escaped)
	if u.EscapedPath() != n.escaped || u.Path != n.decoded || u.RequestURI() != n.escaped {
		t.Fatalf("%q is written as %q, decoded %q", n.escaped, u.EscapedPath(), u.Path)
	}
	again, fault := normalizePath(u)
	if fault != "" || !reflect.DeepEqual(again, n) {
		t.Fatalf("%+v again is %+v, %s", n, again, fault)
	}
}

func TestNormalizedPathIsSafeAndStable(t *testing.T) {
	piece := rapid.SampledFrom([]string{
		"/", "/", "a", "B", ".", "..", "%2f", "%2F", "%5c", "\\", ";", "%3B", "%25", "%2e", "%61", "%7e", "%", "u", "2", "f", "5", "c", "%00", "%e6%96%87",
		"%ff", "%20", " ", "(", "%28", "{", "[", "~", "+", "%2B", "?", "%3f", "#", "%23", "文", "*", ":", "@", "%c2%85",
	})
	rapid.Check(t, func(t *rapid.T) {
		raw := "/" + strings.Join(rapid.SliceOfN(piece, 0, 12).Draw(t, "pieces"), "")
		u, err := url.ParseRequestURI(raw)
		if err != nil {
			return
		}
		if n, fault := normalizePath(u); fault == "" {
			checkNormal(t, n)
		}
	})
}

func FuzzPath(f *testing.F) {
	for _, s := range []string{"/", "/a/b", "/%61", "/a%2Fb", "/..%2f", "/%25%32%66", "/a{%2F", "//", "/文", "*", "http://x/y"} {
		f.Add(s)
	}
	g := guarded(f)
	f.Fuzz(func(t *testing.T, target string) {
		u, err := url.ParseRequestURI(target)
		if err != nil {
			return
		}
		if n, fault := normalizePath(u); fault == "" {
			checkNormal(t, n)
		}
		r := httptest.NewRequest("GET", "/", nil)
		r.RequestURI, r.URL = target, u
		d := g.Decide(r)
		if d.Allowed && strings.HasPrefix(strings.ToLower(strings.Trim(u.Path, "/\\.;")), "admin") && len(strings.Trim(u.Path, "/")) == 5 {
			t.Fatalf("%q passes: %+v", target, d)
		}
	})
}
