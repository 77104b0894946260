package guard

import (
	"net/url"
	"path"
	"strings"
)

// Route matches methods and paths as a scope rule does.
type Route struct{ rule rule }

// NewRoute compiles one; no methods are all methods.
func NewRoute(methods, paths []string) (*Route, error) {
	rules, err := compileRules([]Rule{{Scopes: []string{"any"}, Methods: methods, Paths: paths}}, challenges{}, func(string) bool { return true })
	if err != nil {
		return nil, err
	}
	return &Route{rules[0]}, nil
}

// Matches reports whether a method and a URL fall under the route. Without a guard in
// front any path arrives here, the empty one of an absolute request target too: it is
// matched as most upstreams read it, so that another spelling does not slip past.
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
