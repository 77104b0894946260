package guard

import (
	"net/http"
	"testing"

	"github.com/gatehouse/gatehouse/module/internal/token"
)

func TestPermitsMatchesDecide(t *testing.T) {
	rules := []Rule{
		{Public: true, Methods: []string{"GET"}, Paths: []string{"/open/*"}},
		{Scopes: []string{"articles:read"}, Methods: []string{"GET"}, Paths: []string{"/articles/*", "/a/*/b"}},
		{Scopes: []string{"articles:read", "articles:write"}, Methods: []string{"PUT", "DELETE"}, Paths: []string{"/articles/*"}, AllowEncodedSlash: true},
		{Scopes: []string{"admin"}, Paths: []string{"/a/b/*"}},
	}
	paths := []string{
		"/open/1", "/open/%2e", "/articles/1", "/articles/a%20b", "/articles/a%2Fb", "/articles/..", "/articles/%2e%2e", "/Articles/1", "/nothing", "/a/x/b", "/a/b/b", "/a/b%2Fb/b", "/a%2Fb/b", "/a%2F%2Fb/b",
		"/articles//1", "/articles/a%5cb", "/articles/a%00", "/articles/%zz", "/articles/ü", "/articles/%C3%BC",
	}
	permitted := 0
	for _, otherwise := range []Otherwise{Deny, Token} {
		for _, encoded := range []bool{false, true} {
			g := build(t, func(c *Config) { c.Rules, c.Otherwise, c.AllowEncodedSlash = rules, otherwise, encoded })
			for who, access := range map[string]*token.Access{"": nil, "read": known()["read"], "both": known()["both"], "none": known()["none"]} {
				for _, method := range []string{"GET", "PUT", "DELETE", "TRACE", "PURGE"} {
					for _, at := range paths {
						r, err := http.NewRequest(method, "http://api.example.com"+at, nil)
						if err != nil {
							if g.Permits(access, method, at) {
								t.Errorf("%s %s is no address", method, at)
							}
							continue
						}
						r.URL.Scheme, r.URL.Host, r.RequestURI = "", "", at
						if who != "" {
							r.Header.Set("Authorization", "Bearer "+who)
						}
						want := g.Decide(r).Allowed
						if got := g.Permits(access, method, at); got != want {
							t.Errorf("%q %s %s: permitted %v, decided %v", who, method, at, got, want)
						} else if got {
							permitted++
						}
					}
				}
			}
		}
	}
	if permitted < 20 {
		t.Errorf("%d permitted: nothing is compared", permitted)
	}
}

func TestRulesBelowAPath(t *testing.T) {
	tree := new(ruleTree)
	rules, err := tree.addRules([]Rule{{Public: true, Paths: []string{"/*", "/*/x", "/v2/things", "/api/V3/*"}}}, challenges{}, func(string) bool { return false })
	if err != nil {
		t.Fatal(err)
	}
	g := &Guard{tree: *tree, rules: rules}
	for path, want := range map[string]bool{"/v1": false, "/v2": true, "/%762": true, "/V2": true, "/api/v3": true, "/api/v2": false, "/v": false, "/v2/things/1": false, "/v2/%": false} {
		if got := g.HasRulesBelow(path); got != want {
			t.Errorf("%s: %t", path, got)
		}
	}
}
