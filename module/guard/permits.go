package guard

import (
	"github.com/gatehouse/gatehouse/module/internal/token"
	"github.com/gatehouse/gatehouse/module/oauth"
)

// Permits reports whether a caller who has passed may use a method on an escaped path
// too. access is nil for nobody. Nothing is granted by it: it tells which links are
// worth showing, and the request itself is judged when it comes.
func (g *Guard) Permits(access *token.Access, method, path string) bool {
	if refusedMethod(method) {
		return false
	}
	n := normal{judged: path}
	if !isPlain(path) {
		var fault string
		if n, fault = scan(path); fault != "" {
			return false
		}
	}
	at, safe := g.ruleFor(method, n)
	switch {
	case !safe:
		return false
	case at < 0:
		return g.open && access != nil
	case g.rules[at].public:
		return true
	}
	return access != nil && oauth.Subset(g.rules[at].scopes, access.Scopes)
}

// Needs says what the policy asks of callers of a method on a path, whoever they are:
// nothing where public, a valid token with all the scopes otherwise. Denied: nobody may.
func (g *Guard) Needs(method, path string) (scopes []string, public, denied bool) {
	if refusedMethod(method) {
		return nil, false, true
	}
	n, fault := scan(path)
	if fault != "" {
		return nil, false, true
	}
	at := g.find(method, n.judged)
	if at < 0 {
		return nil, false, !g.open
	}
	return g.rules[at].scopes, g.rules[at].public, false
}
