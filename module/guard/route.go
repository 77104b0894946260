package guard

// Route matches methods and paths as a scope rule does.
type Route struct{ rule rule }

// NewRoute compiles one; no methods are all methods.
func NewRoute(methods, paths []string) (*Route, error) {
	rules, err := compileRules([]Rule{{Scopes: []string{"any"}, Methods: methods, Paths: paths}}, "realm")
	if err != nil {
		return nil, err
	}
	return &Route{rules[0]}, nil
}

// Matches reports whether a method and an escaped path fall under the route.
func (r *Route) Matches(method, path string) bool { return r.rule.matches(method, path) }
