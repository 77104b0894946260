package handler

import (
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/caddyserver/caddy/v2/modules/caddyhttp"

	"github.com/gatehouse/gatehouse/module/guard"
	"github.com/gatehouse/gatehouse/module/internal/token"
)

// passedGuard is a guard that a request has passed, and the caller at that point.
type passedGuard struct {
	guard  *guard.Guard
	access *token.Access
	front  string       // the prefix that handlers such as handle_path had removed from the path: the rules apply to the rest
	seen   seenPath     // the rest
	outer  *passedGuard // the next one in front of it
}

// seenPath is Path and RawPath of a URL, which handlers may change afterwards.
type seenPath struct{ path, raw string }

func (s seenPath) escaped() string { return (&url.URL{Path: s.path, RawPath: s.raw}).EscapedPath() }

// RecordGuard records that a request has passed a guard. The guard calls it before it names
// the caller and before it changes the path: what an outer guard recorded is kept, because
// the caller may do only what both permit.
func RecordGuard(r *http.Request, g *guard.Guard) {
	f := factsToAdd(r)
	if passed := f.innermostGuard(); passed != nil {
		f.outer = passed
	}
	if front := Taken(r); front != "" {
		f.front = front
	}
	f.seen = seenPath{r.URL.Path, r.URL.RawPath}
	f.guard = g
}

// innermostGuard returns the last guard that a request has passed, linked to those in front; nil
// if there is none, or only guards that refuse nothing.
func (f *facts) innermostGuard() *passedGuard {
	if f.guard == nil {
		return nil
	}
	return &passedGuard{f.guard, f.access, f.front, f.seen, f.outer}
}

// SetRoute records the name of the guard's rule that let a request pass.
func SetRoute(r *http.Request, name string) { factsToAdd(r).route = name }

// Route returns the name of the guard's rule that let a request pass, or "".
func Route(r *http.Request) string { return factsOf(r).route }

// Permits returns a function that reports what else the guards in front let the caller of a
// request do, by paths as the client writes them. It returns nil, which means everything, if
// there is no guard, or only guards that refuse nothing.
func Permits(r *http.Request) func(method, path string) bool {
	passed := factsOf(r).innermostGuard()
	if passed == nil {
		return nil
	}
	return func(method, path string) bool {
		return passed.permit(method, func(p *passedGuard) string { return strings.TrimPrefix(path, p.front) })
	}
}

// RefusesMethod reports whether a guard in front would refuse the caller of a request another method on the same path, as
// the guard saw it, and if so, the scopes that it requires for it; none if nobody may use it.
func RefusesMethod(r *http.Request, method string) (scopes []string, refused bool) {
	for p := factsOf(r).innermostGuard(); p != nil; p = p.outer {
		if path := p.seen.escaped(); !p.guard.Permits(p.access, method, path) {
			scopes, _, _ = p.guard.Needs(method, path)
			return scopes, true
		}
	}
	return nil, false
}

// PermitsBelow returns a function that reports what the guards in front let the caller of a
// request do below the path of the request. rest is what follows that path, escaped, with a slash in front. Each guard
// judges the path as it saw it, even if handlers behind it have rewritten it. PermitsBelow returns nil where [Permits]
// does.
func PermitsBelow(r *http.Request) func(method, rest string) bool {
	passed := factsOf(r).innermostGuard()
	if passed == nil {
		return nil
	}
	return func(method, rest string) bool {
		return passed.permit(method, func(p *passedGuard) string { return strings.TrimSuffix(p.seen.escaped(), "/") + rest })
	}
}

// permit reports whether a guard and those in front of it let their callers use a method on what path is for each.
func (p *passedGuard) permit(method string, path func(*passedGuard) string) bool {
	for ; p != nil; p = p.outer {
		if !p.guard.Permits(p.access, method, path(p)) {
			return false
		}
	}
	return true
}

// Forbidden returns a function that reports whether a guard in front refuses the caller of a request a method on a path,
// escaped and as the handler sees it. A guard without a rule for the path refuses it only if its rules name any of the
// roots, or paths below them: otherwise it knows nothing of such paths. Forbidden returns nil where [Permits] does.
func Forbidden(r *http.Request, roots []string) func(method, path string) bool {
	passed := factsOf(r).innermostGuard()
	if passed == nil {
		return nil
	}
	return func(method, path string) bool {
		for p := passed; p != nil; p = p.outer {
			front := takenSince(r, p.front)
			if p.guard.Permits(p.access, method, front+path) {
				continue
			}
			_, _, nobody := p.guard.Needs(method, front+path)
			if !nobody || slices.ContainsFunc(roots, func(root string) bool { return p.guard.HasRulesBelow(front + root) }) {
				return true
			}
		}
		return false
	}
}

// Needs describes what a guard requires of callers. Two are equal if they belong to the same
// guard.
type Needs interface {
	// Needs returns the scopes that a method on a path requires, whether it is public, and
	// whether it is denied to everybody. It MUST NOT depend on the caller.
	Needs(method, path string) (scopes []string, public, denied bool)
}

// NeedsOf returns what the guard that a request has passed requires. It is nil if there is no
// guard, or one that refuses nothing.
func NeedsOf(r *http.Request) Needs {
	if g := factsOf(r).guard; g != nil {
		return g
	}
	return nil
}

// Taken returns the escaped prefix that handlers in front have removed from the path.
func Taken(r *http.Request) string {
	original, ok := r.Context().Value(caddyhttp.OriginalRequestCtxKey).(http.Request)
	if !ok || original.URL == nil || original.URL.Path == r.URL.Path {
		return ""
	}
	if front, ok := strings.CutSuffix(original.URL.EscapedPath(), r.URL.EscapedPath()); ok {
		return front
	}
	// A guard may have rewritten the rest with other, equivalent escapes.
	return takenSince(r, "")
}

// takenSince returns the escaped prefix that handlers have removed from the path after a guard,
// in front of which front was already removed. It compares decoded paths, because the guard may
// have rewritten the path with other escapes.
func takenSince(r *http.Request, front string) string {
	original, ok := r.Context().Value(caddyhttp.OriginalRequestCtxKey).(http.Request)
	if !ok || original.URL == nil {
		return ""
	}
	taken, ok := strings.CutSuffix(original.URL.Path, r.URL.Path)
	if !ok {
		return ""
	}
	if decoded, err := url.PathUnescape(front); err == nil {
		taken = strings.TrimPrefix(taken, decoded)
	}
	return (&url.URL{Path: taken}).EscapedPath()
}
