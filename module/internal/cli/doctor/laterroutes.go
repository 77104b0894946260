package doctor

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

// laterRoutes are the routes for some responses, in `handle_response`.
type laterRoutes struct {
	Match  *caddyhttp.ResponseMatcher `json:"match"` // nil: every response
	Routes []routes.Route             `json:"routes"`
}

func (l laterRoutes) match() responses {
	if l.Match == nil {
		return everyResponse
	}
	return l.Match.Match
}

// onlyIfAllowed reports whether the routes are for responses that allow a request, as a forward_auth takes them, or that name in a field
// where to go.
func (l laterRoutes) onlyIfAllowed() bool {
	if l.Match == nil {
		return false
	}
	return !slices.ContainsFunc(l.Match.StatusCode, func(code int) bool { return code != 2 && code/100 != 2 }) && (l.Match.StatusCode != nil || l.Match.Headers != nil)
}

// responsesOf returns the routes in `handle_response` of a reverse_proxy or an intercept.
func responsesOf(h routes.Handler) (all []laterRoutes) {
	for _, raw := range h.HandleResponse {
		var one laterRoutes
		if json.Unmarshal(raw, &one) == nil {
			all = append(all, one)
		}
	}
	return all
}

// errorRoutes returns the routes in `handle_errors` that errors of a site come to, without the matchers of hosts around them.
func errorRoutes(s explain.Server, site []routes.Route) (all []routes.Route) {
	all = errorsWithin(site)
	hosts := hostsOf(site)
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

// withLater returns a server whose routes include those for errors and responses.
func withLater(s explain.Server) explain.Server {
	all := slices.Concat(s.Routes, s.Errors.Routes)
	for _, rt := range s.NamedRoutes {
		all = append(all, rt)
	}
	for i := 0; i < len(all); i++ { // it grows
		all = append(all, errorsWithin(all[i:i+1])...)
		for _, h := range all[i].Handlers() {
			for _, one := range responsesOf(h) {
				all = append(all, one.Routes...)
			}
		}
	}
	return explain.Server{Routes: all}
}

// overlap reports whether patterns of hosts have a host in common; nil are all hosts.
func overlap(a, b []string) bool {
	return a == nil || b == nil || slices.ContainsFunc(a, func(one string) bool {
		return slices.ContainsFunc(b, func(other string) bool { return hostMatches(one, other) || hostMatches(other, one) })
	})
}

// errorHeaders returns the headers that are applied to responses to errors of a site.
func errorHeaders(s explain.Server, site []routes.Route) []deferredHeader {
	return headersWithin("handle_errors", errorRoutes(s, site), s.NamedRoutes, nil, everyResponse)
}

// headersWithin returns the headers in routes for errors or responses, where they are applied at once.
func headersWithin(block string, list []routes.Route, named map[string]routes.Route, under []string, among responses) []deferredHeader {
	w := &laterHeaders{block: block, named: named}
	w.list(list, under, among)
	return w.found
}

type laterHeaders struct {
	block     string
	named     map[string]routes.Route
	invoked   int // depth of invocations
	rewritten bool
	found     []deferredHeader
}

func (w *laterHeaders) list(all []routes.Route, under []string, among responses) {
	for _, rt := range all {
		paths, own := under, statusOf(rt.Match)
		if named, _ := pathsOf(rt.Match); named != nil && !w.rewritten {
			paths = named
		}
		w.chain(rt.Handle, paths, func(status int, h http.Header) bool { return own(status) && among(status, h) })
	}
}

func (w *laterHeaders) chain(handle []json.RawMessage, under []string, among responses) {
	for _, raw := range handle {
		h, _ := routes.ReadHandler(raw)
		switch {
		case h.Handler == "headers":
			ops, ok := responseOps(raw)
			if !ok {
				continue
			}
			if effect := effectOf(ops, among); effect.field != "" {
				w.found = append(w.found, deferredHeader{effect, w.block, under})
			}
		case h.Handler == "rewrite":
			w.rewritten = true
		case h.Handler == "subroute":
			w.list(h.Routes, under, among)
		case h.Handler == "invoke" && w.invoked < routes.MaxInvocations:
			w.invoked++
			w.list([]routes.Route{w.named[h.Name]}, under, among)
			w.invoked--
		}
	}
}

var errorStatus = regexp.MustCompile(`\{http\.error\.status_code\}`)

// statusOf returns which errors come to a route: `handle_errors 404 5xx` makes an expression of them.
func statusOf(sets matcherSets) func(status int) bool {
	var all []func(int) bool
	for _, set := range sets {
		text, ok := expressionOf(set["expression"])
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

// expressionOf returns the text of an expression.
func expressionOf(raw json.RawMessage) (text string, ok bool) {
	if json.Unmarshal(raw, &text) == nil {
		return text, true
	}
	var expression struct {
		Expr string `json:"expr"`
	}
	err := json.Unmarshal(raw, &expression)
	return expression.Expr, err == nil
}
