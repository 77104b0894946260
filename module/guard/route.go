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

// Find returns the index of the first route that matches a method and a URL, or -1. Without a guard in front, any method
// and path arrive here, even the empty path of an absolute request target. Therefore the method matches in any letter
// case, and the path in every way that an upstream may read it. If its readings match different routes, the one that
// preferred prefers to the others is returned.
func (r *Routes) Find(method string, u *url.URL, preferred func(i, other int) bool) int {
	if r.next == 0 {
		return -1
	}
	method = strings.ToUpper(method)
	if pathspelling.IsPlain(u.Path) {
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
