package gateway

import (
	"errors"
	"net/http"
	"net/url"
	"strings"

	"github.com/caddyserver/caddy/v2"
	"github.com/caddyserver/caddy/v2/modules/caddyhttp"

	"github.com/gatehouse/gatehouse/module/guard"
	"github.com/gatehouse/gatehouse/module/internal/token"
	"github.com/gatehouse/gatehouse/module/rest/envelope"
)

// permitsVar is the request variable with the guard that a request has passed.
const permitsVar = "gatehouse.guard"

// frontVar is the request variable with what handlers in front of the guard, such as
// handle_path, had taken from the path: its rules are about the rest.
const frontVar = "gatehouse.guard.front"

// CarriesToken reports whether a form in the form of a query has the parameter access_token.
func CarriesToken(form string) bool { return guard.CarriesToken(form) }

// Shaped reports whether an api_errors in front will answer for errors.
func Shaped(r *http.Request) bool { return shaped(r) }

// Unshaped makes a request whose errors nobody in front answers for, out of the copy of
// another's variables.
func Unshaped(vars map[string]any) { delete(vars, envelopeVar) }

// Caller is who a guard in front let pass; nil for nobody.
func Caller(r *http.Request) *token.Access { return caller(r) }

// Taken is what handlers in front have taken from the beginning of the path, escaped.
func Taken(r *http.Request) string {
	original, ok := r.Context().Value(caddyhttp.OriginalRequestCtxKey).(http.Request)
	if !ok || original.URL == nil || original.URL.Path == r.URL.Path {
		return ""
	}
	if front, ok := strings.CutSuffix(original.URL.EscapedPath(), r.URL.EscapedPath()); ok {
		return front
	}
	// A guard has written the rest in another way, which means the same.
	front, ok := strings.CutSuffix(original.URL.Path, r.URL.Path)
	if !ok {
		return ""
	}
	return (&url.URL{Path: front}).EscapedPath()
}

// Permits says what else the guard in front would let the caller of a request do, by
// paths as the client writes them. It is nil, for everything, where no guard stands or
// one that refuses nothing.
func Permits(r *http.Request) func(method, path string) bool {
	g, ok := caddyhttp.GetVar(r.Context(), permitsVar).(*guard.Guard)
	if !ok {
		return nil
	}
	access := caller(r)
	front, _ := caddyhttp.GetVar(r.Context(), frontVar).(string)
	outer := outerGuards(r)
	return func(method, path string) bool {
		for o := outer; o != nil; o = o.outer {
			if !o.guard.Permits(o.access, method, strings.TrimPrefix(path, o.front)) {
				return false
			}
		}
		return g.Permits(access, method, strings.TrimPrefix(path, front))
	}
}

// Forbidden says which methods on which paths, escaped and as the handler sees them, a rule of
// the guard in front is about that does not let the caller of a request pass. It is nil where
// Permits is.
func Forbidden(r *http.Request) func(method, path string) bool {
	g, ok := caddyhttp.GetVar(r.Context(), permitsVar).(*guard.Guard)
	if !ok {
		return nil
	}
	front, _ := caddyhttp.GetVar(r.Context(), frontVar).(string)
	all := &passedGuard{g, caller(r), front, outerGuards(r)}
	return func(method, path string) bool {
		for o := all; o != nil; o = o.outer {
			own := takenSince(r, o.front) + path
			if _, _, nobody := o.guard.Needs(method, own); !nobody && !o.guard.Permits(o.access, method, own) {
				return true
			}
		}
		return false
	}
}

// takenSince is what handlers have taken from the beginning of the path since a guard at which
// front was taken already, escaped. It compares decoded paths: the guard may have written the
// escaped one in another way.
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

// Refuse is the error with which a handler refuses a request, for api_errors or the
// site's own handle_errors to answer.
func Refuse(w http.ResponseWriter, r *envelope.Refusal) error {
	for name, values := range r.Header {
		w.Header()[name] = values
	}
	return fail(r.Status, &failure{code: r.Code, message: r.Message, field: r.Field, cause: r.Cause})
}

// Told is what an error lets a client know.
func Told(err error) envelope.Error {
	var f *failure
	if !errors.As(err, &f) {
		return envelope.Error{}
	}
	return envelope.Error{Code: f.code, Message: f.message, Field: f.field}
}

// StatusOf is the status an error would be answered with, as Caddy does it.
func StatusOf(err error) int { return statusOf(err) }

// FindApp is the app that a directive needs.
func FindApp(ctx caddy.Context, directive string) (*App, error) { return findApp(ctx, directive) }
