package guard

import (
	"net/url"
	"path"
	"strings"
)

// Route matches methods and paths as a scope rule does.
type Route struct{ rule rule }

// NewRoute compiles a route. Without methods it matches all of them.
func NewRoute(methods, paths []string) (*Route, error) {
	rules, _, err := compileRules([]Rule{{Scopes: []string{"any"}, Methods: methods, Paths: paths}}, challenges{}, nil)
	if err != nil {
		return nil, err
	}
	return &Route{rules[0]}, nil
}

// Matches reports whether the route matches a method and a URL. Without a guard in front any
// path arrives here, even the empty one of an absolute request target: it is matched as most
// upstreams read it, so that no other spelling slips past.
func (r *Route) Matches(method string, u *url.URL) bool {
	p := u.Path
	if !isPlain(p) {
		p = path.Clean("/" + p)
		if p != "/" && strings.HasSuffix(u.Path, "/") {
			p += "/"
		}
	}
	return r.rule.matches(method, p)
}
