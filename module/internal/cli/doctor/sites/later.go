package sites

import (
	"context"
	"encoding/json"
	"net/http"
	"regexp"
	"slices"
	"strings"

	"github.com/caddyserver/caddy/v2"
	"github.com/caddyserver/caddy/v2/modules/caddyhttp"

	"github.com/gatehouse/gatehouse/module/internal/cli/explain"
	"github.com/gatehouse/gatehouse/module/internal/routes"
)

// ResponseRoutes are the routes for some responses, in `handle_response`.
type ResponseRoutes struct {
	Match  *caddyhttp.ResponseMatcher `json:"match"` // nil: every response
	Routes []routes.Route             `json:"routes"`
}

// OnlyIfAllowed reports whether the routes are for responses that allow a request, as a forward_auth takes them, or that name in a field
// where to go.
func (l ResponseRoutes) OnlyIfAllowed() bool {
	if l.Match == nil {
		return false
	}
	return !slices.ContainsFunc(l.Match.StatusCode, func(code int) bool { return code != 2 && code/100 != 2 }) && (l.Match.StatusCode != nil || l.Match.Headers != nil)
}

// ResponsesOf returns the routes in `handle_response` of a reverse_proxy or an intercept.
func ResponsesOf(h routes.Handler) (all []ResponseRoutes) {
	for _, raw := range h.HandleResponse {
		var one ResponseRoutes
		if json.Unmarshal(raw, &one) == nil {
			all = append(all, one)
		}
	}
	return all
}

// ErrorRoutes returns the routes in `handle_errors` that errors of a site come to, without the matchers of hosts around them.
func ErrorRoutes(s explain.Server, site []routes.Route) (all []routes.Route) {
	all = errorsWithin(site)
	hosts := Hosts(site)
	for _, rt := range s.Errors.Routes {
		if own, _ := rt.Hosts(); overlap(hosts, own) {
			all = append(all, rt)
		}
	}
	return all
}

// errorsWithin returns the error routes of subroutes, which only JSON has.
func errorsWithin(list []routes.Route) (all []routes.Route) {
	for _, rt := range list {
		for raw, h := range rt.Handlers() {
			var sub struct {
				Errors explain.ErrorRoutes `json:"errors"`
			}
			if h.Handler == "subroute" && json.Unmarshal(raw, &sub) == nil {
				all = append(all, sub.Errors.Routes...)
			}
		}
	}
	return all
}

// WithLater returns a server whose routes include those for errors and responses.
func WithLater(s explain.Server) explain.Server {
	all := slices.Concat(s.Routes, s.Errors.Routes)
	for _, rt := range s.NamedRoutes {
		all = append(all, rt)
	}
	for i := 0; i < len(all); i++ { // it grows
		all = append(all, errorsWithin(all[i:i+1])...)
		for _, h := range all[i].Handlers() {
			for _, one := range ResponsesOf(h) {
				all = append(all, one.Routes...)
			}
		}
	}
	return explain.Server{Routes: all}
}

var errorStatus = regexp.MustCompile(`\{http\.error\.status_code\}`)

// ErrorStatus returns which errors come to a route: `handle_errors 404 5xx` makes an expression of them.
func ErrorStatus(sets []map[string]json.RawMessage) func(status int) bool {
	var all []func(int) bool
	for _, set := range sets {
		text, ok := Expression(set["expression"])
		if !ok || !errorStatus.MatchString(text) || strings.Contains(errorStatus.ReplaceAllString(text, ""), "{") {
			return func(int) bool { return true }
		}
		all = append(all, statusExpression(text))
	}
	return func(status int) bool {
		return len(all) == 0 || slices.ContainsFunc(all, func(is func(int) bool) bool { return is(status) })
	}
}

func statusExpression(text string) func(int) bool {
	ctx, cancel := caddy.NewContext(caddy.Context{Context: context.Background()})
	defer cancel()
	m := caddyhttp.MatchExpression{Expr: text}
	if m.Provision(ctx) != nil {
		return func(int) bool { return true }
	}
	return func(status int) bool {
		repl := caddy.NewReplacer()
		repl.Set("http.error.status_code", status)
		r, err := http.NewRequestWithContext(context.WithValue(context.Background(), caddy.ReplacerCtxKey, repl), http.MethodGet, "/", nil)
		if err != nil {
			return true
		}
		is, err := m.MatchWithError(r)
		return is || err != nil
	}
}

// Expression returns the text of an expression.
func Expression(raw json.RawMessage) (text string, ok bool) {
	if json.Unmarshal(raw, &text) == nil {
		return text, true
	}
	var expression struct {
		Expr string `json:"expr"`
	}
	err := json.Unmarshal(raw, &expression)
	return expression.Expr, err == nil
}
