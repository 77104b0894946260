package guard

import (
	"net/url"
	"path"
	"strings"
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

// Find returns the index of the first route that matches a method and a URL, -1 for none. Without a guard
// in front any path arrives here, even the empty one of an absolute request target: it is matched as most
// upstreams read it, so that no other spelling slips past.
func (r *Routes) Find(method string, u *url.URL) int {
	if r.next == 0 {
		return -1
	}
	p := u.Path
	if !isPlain(p) {
		p = path.Clean("/" + p)
		if p != "/" && strings.HasSuffix(u.Path, "/") {
			p += "/"
		}
	}
	return r.tree.find(method, p)
}
