package guard

import (
	"net/url"
	"strings"

	"github.com/gatehouse/gatehouse/module/internal/pathspelling"
)

// Routes match methods and paths as scope rules do.
type Routes struct {
	tree ruleTree
	next int
}

// Add adds a route behind the others. Without methods it matches all of them.
func (r *Routes) Add(methods, paths []string) error {
	rules, err := new(ruleTree).addRules([]Rule{{Scopes: []string{"any"}, Methods: methods, Paths: paths}}, challenges{}, nil)
	if err != nil {
		return err
	}
	r.tree.add(r.next, &rules[0])
	r.next++
	return nil
}

// Find returns the index of the route that matches a method and a URL, -1 for none: the first one, and of several that
// match different readings of the path the one that no other is preferred to. Without a guard in front any path arrives
// here, even the empty one of an absolute request target, and any method: both are matched in every way that some
// upstream reads them, so that no other spelling slips past.
func (r *Routes) Find(method string, u *url.URL, preferred func(i, other int) bool) int {
	if r.next == 0 {
		return -1
	}
	method = strings.ToUpper(method)
	if isPlain(u.Path) && !hasFinalDot(u.Path) {
		return r.tree.find(method, u.Path)
	}
	found := -1
	spellings, _ := pathspelling.Decoded(u.Path)
	for _, decoded := range spellings {
		for reading := range pathspelling.Readings(decoded) {
			if i := r.tree.find(method, reading); i >= 0 && (found < 0 || preferred(i, found)) {
				found = i
			}
		}
	}
	return found
}

// hasFinalDot reports whether a segment ends in a dot, which Windows drops.
func hasFinalDot(path string) bool {
	return strings.HasSuffix(path, ".") || strings.Contains(path, "./")
}
