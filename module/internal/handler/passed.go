package handler

import (
	"net/http"
	"net/url"
	"strings"

	"github.com/caddyserver/caddy/v2/modules/caddyhttp"

	"github.com/gatehouse/gatehouse/module/guard"
	"github.com/gatehouse/gatehouse/module/internal/token"
)

// Request variables.
const (
	guardVar = "gatehouse.guard"       // the innermost guard that the request has passed
	frontVar = "gatehouse.guard.front" // what had been taken from the path in front of it
	outerVar = "gatehouse.guard.outer" // the guards in front of it, a *passedGuard
	routeVar = "gatehouse.route"       // the name of the guard's rule that let it pass
)

// passedGuard is a guard that a request has passed, and as whom.
type passedGuard struct {
	guard  *guard.Guard
	access *token.Access
	front  string       // what handlers such as handle_path had taken from the path: the rules are about the rest
	outer  *passedGuard // the next one in front of it
}

// RecordGuard records that a request has passed a guard. The guard calls it before it names
// the caller and before it changes the path: what an outer guard recorded is kept, because
// the caller may do only what both permit.
func RecordGuard(r *http.Request, g *guard.Guard) {
	if passed := innermostGuard(r); passed != nil {
		caddyhttp.SetVar(r.Context(), outerVar, passed)
	}
	if front := Taken(r); front != "" {
		caddyhttp.SetVar(r.Context(), frontVar, front)
	}
	caddyhttp.SetVar(r.Context(), guardVar, g)
}

// innermostGuard is the last guard that a request has passed, linked to those in front; nil
// where no guard stands, or only ones that refuse nothing.
func innermostGuard(r *http.Request) *passedGuard {
	g := getVar[*guard.Guard](r, guardVar)
	if g == nil {
		return nil
	}
	return &passedGuard{g, Caller(r), getVar[string](r, frontVar), getVar[*passedGuard](r, outerVar)}
}

// SetRoute records the name of the guard's rule that let a request pass.
func SetRoute(r *http.Request, name string) { caddyhttp.SetVar(r.Context(), routeVar, name) }

// Route is the name of the guard's rule that let a request pass, "" for none.
func Route(r *http.Request) string { return getVar[string](r, routeVar) }

// Permits returns what else the guards in front let the caller of a request do, by paths as
// the client writes them. It returns nil, which means everything, where no guard stands or
// only ones that refuse nothing.
func Permits(r *http.Request) func(method, path string) bool {
	passed := innermostGuard(r)
	if passed == nil {
		return nil
	}
	return func(method, path string) bool {
		for p := passed; p != nil; p = p.outer {
			if !p.guard.Permits(p.access, method, strings.TrimPrefix(path, p.front)) {
				return false
			}
		}
		return true
	}
}

// Forbidden reports which methods on which paths, escaped and as the handler sees them, a
// guard in front has a rule for that refuses the caller of a request. It returns nil where
// [Permits] does.
func Forbidden(r *http.Request) func(method, path string) bool {
	passed := innermostGuard(r)
	if passed == nil {
		return nil
	}
	return func(method, path string) bool {
		for p := passed; p != nil; p = p.outer {
			own := takenSince(r, p.front) + path
			if _, _, nobody := p.guard.Needs(method, own); !nobody && !p.guard.Permits(p.access, method, own) {
				return true
			}
		}
		return false
	}
}

// Needs is what a guard requires of callers. Two are equal if they are the same guard's.
type Needs interface {
	// Needs returns the scopes that a method on a path requires, unless it is public, or
	// denied to everybody. It MUST NOT depend on who calls.
	Needs(method, path string) (scopes []string, public, denied bool)
}

// NeedsOf is what the guard that a request has passed requires. It is nil where no guard
// stands, or one that refuses nothing.
func NeedsOf(r *http.Request) Needs {
	if g := getVar[*guard.Guard](r, guardVar); g != nil {
		return g
	}
	return nil
}

// Taken is what handlers in front have removed from the beginning of the path, escaped.
func Taken(r *http.Request) string {
	original, ok := r.Context().Value(caddyhttp.OriginalRequestCtxKey).(http.Request)
	if !ok || original.URL == nil || original.URL.Path == r.URL.Path {
		return ""
	}
	if front, ok := strings.CutSuffix(original.URL.EscapedPath(), r.URL.EscapedPath()); ok {
		return front
	}
	// A guard may have written the rest with other escapes, which mean the same.
	return takenSince(r, "")
}

// takenSince is what handlers have removed from the beginning of the path since a guard in
// front of which front was gone already, escaped. It compares decoded paths: the guard may
// have written the path with other escapes.
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
