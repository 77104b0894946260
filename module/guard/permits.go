package guard

import (
	"strings"

	"github.com/gatehouse/gatehouse/module/internal/token"
	"github.com/gatehouse/gatehouse/module/oauth"
)

// Permits reports whether a caller who has passed may also use a method on an escaped path.
// access is nil for a caller without a token. It grants nothing: it decides which links to show,
// and a request is decided when it arrives.
func (g *Guard) Permits(access *token.Access, method, path string) bool {
	if refusedMethod(method) {
		return false
	}
	n := normalPath{judged: path}
	if !isPlain(path) {
		var fault string
		if n, fault = normalizeEscaped(path); fault != "" {
			return false
		}
	}
	_, needed, safe := g.ruleFor(method, n)
	switch {
	case !safe || needed == nil:
		return false
	case needed.Public:
		return true
	}
	return access != nil && oauth.Subset(needed.Scopes, access.Scopes)
}

// HasRulesBelow reports whether a rule names this escaped path, or one below it. A rule for everything, such as /*, does
// not name it.
func (g *Guard) HasRulesBelow(path string) bool {
	n, fault := normalizeEscaped(path)
	t := &g.tree
	for segment := range strings.SplitSeq(strings.Trim(n.judged, "/"), "/") {
		if t = t.word(segment); t == nil {
			return false
		}
	}
	return fault == ""
}

// Needs returns what the policy requires of every caller of a method on a path: nothing if it is
// public, otherwise a valid token with all the scopes. denied means that nobody may call it.
func (g *Guard) Needs(method, path string) (scopes []string, public, denied bool) {
	if refusedMethod(method) {
		return nil, false, true
	}
	n, fault := normalizeEscaped(path)
	if fault != "" {
		return nil, false, true
	}
	_, needed, _ := g.ruleFor(method, n)
	if needed == nil {
		return nil, false, true
	}
	return needed.Scopes, needed.Public, false
}
