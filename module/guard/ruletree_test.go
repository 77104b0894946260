package guard

import (
	"fmt"
	"math/rand/v2"
	"net/url"
	"slices"
	"strings"
	"testing"
)

// linearFind is what the tree must find: the first rule whose pattern matches.
func linearFind(rules []rule, method, path string) int {
	return slices.IndexFunc(rules, func(r rule) bool {
		return (r.Methods == nil || slices.Contains(r.Methods, method)) && slices.ContainsFunc(r.paths, func(p pattern) bool { return p.match(path) })
	})
}

// linearReachable is what checkReachable must say.
func linearReachable(earlier []rule, r rule) string {
	for i := range r.paths {
		left := slices.Clone(r.Methods)
		for _, e := range earlier {
			if !slices.ContainsFunc(e.paths, func(p pattern) bool { return p.covers(&r.paths[i]) }) {
				continue
			}
			if e.Methods == nil {
				left = []string{}
			}
			left = slices.DeleteFunc(left, func(m string) bool { return slices.Contains(e.Methods, m) })
			if left != nil && len(left) == 0 {
				return fmt.Sprintf("guard: path %q never decides: the earlier %q does, for all its methods", r.paths[i].text, e.paths[0].text)
			}
		}
	}
	return ""
}

// Segments that are the same in another case, also where one of the letters is not in ASCII.
var treeSegments = []string{"a", "A", "b", "k", "K", "\u212a", "s", "\u017f", "long-segment", "LONG-segment", "B", "ü", "Ü", "ß", "ẞ", "7", "i", "I", "İ", "ı"}

func randomPattern(r *rand.Rand) string {
	path := ""
	for range 1 + r.IntN(4) {
		switch n := r.IntN(8); {
		case n < 2:
			path += "/*"
		default:
			path += "/" + treeSegments[r.IntN(len(treeSegments))]
		}
	}
	switch r.IntN(6) {
	case 0:
		return path + "/"
	case 1:
		return "/"
	case 2:
		return path + "/*"
	}
	return path
}

func randomRule(r *rand.Rand) Rule {
	rule := Rule{Scopes: []string{"read"}}
	if r.IntN(3) == 0 {
		rule = Rule{Public: true}
	}
	methods := []string{"GET", "POST", "PUT", "PURGE"}
	r.Shuffle(len(methods), func(i, j int) { methods[i], methods[j] = methods[j], methods[i] })
	rule.Methods = slices.Clone(methods[:r.IntN(len(methods)+1)])
	for range 1 + r.IntN(3) {
		rule.Paths = append(rule.Paths, randomPattern(r))
	}
	return rule
}

func randomPath(r *rand.Rand) string {
	path := ""
	for range r.IntN(6) {
		path += []string{"/", "/", "/", "%2F", "%2f"}[r.IntN(5)] + url.PathEscape(treeSegments[r.IntN(len(treeSegments))])
	}
	path = "/" + strings.TrimPrefix(path, "/")
	switch r.IntN(4) {
	case 0:
		return path + "/"
	case 1:
		return strings.Replace(path, "/", "/*", 1)
	}
	return path
}

// FuzzRuleTree takes rules and paths as they come: a line that begins with a slash is a rule with this pattern.
func FuzzRuleTree(f *testing.F) {
	f.Add("/a/*\n/A/b\n/*/b/\n/", "/a/B/")
	f.Add("/\u212a/*\n/k\n/ſ/x", "/K/S")
	f.Add("/a/\n/a\n/*", "/a%2Fb//\xff")
	f.Fuzz(func(t *testing.T, patterns, path string) {
		var tree ruleTree
		var rules []rule
		for line := range strings.Lines(patterns) {
			for _, public := range []bool{true, false} {
				r := Rule{Public: public, Paths: []string{strings.TrimSuffix(line, "\n")}}
				if !public {
					r.Scopes = []string{"read"}
				}
				if compiled, err := new(ruleTree).addRules([]Rule{r}, challenges{}, nil); err == nil {
					tree.add(len(rules), &compiled[0])
					rules = append(rules, compiled[0])
				}
			}
		}
		path = "/" + strings.TrimPrefix(path, "/")
		if got, want := tree.find("GET", path), linearFind(rules, "GET", path); got != want {
			t.Fatalf("%q is decided by rule %d, want %d of %q", path, got, want, patterns)
		}
	})
}

// A request costs the same whatever the number of rules in front of the one that decides.
func BenchmarkRules(b *testing.B) {
	for _, n := range []int{1, 1000, 10_000} {
		rules := make([]Rule, 0, n)
		for i := range n - 1 {
			rules = append(rules, Rule{Scopes: []string{"articles:read"}, Methods: []string{"GET"}, Paths: []string{fmt.Sprintf("/r%d/*", i)}})
		}
		rules = append(rules, Rule{Scopes: []string{"articles:read"}, Methods: []string{"GET"}, Paths: []string{"/articles/*"}})
		b.Run(fmt.Sprint(n, "/new"), func(b *testing.B) {
			for b.Loop() {
				_ = build(b, func(c *Config) { c.Rules = rules })
			}
		})
		g := build(b, func(c *Config) { c.Rules = rules })
		r := request("GET", "/articles/7/comments", "Authorization", "Bearer read")
		b.Run(fmt.Sprint(n, "/decide"), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if d := g.Decide(r); !d.Allowed {
					b.Fatal(d)
				}
			}
		})
	}
}
