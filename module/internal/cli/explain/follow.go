package explain

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"

	"github.com/caddyserver/caddy/v2"
	"github.com/caddyserver/caddy/v2/modules/caddyhttp"

	"github.com/gatehouse/gatehouse/module/gateway/restapi"
	"github.com/gatehouse/gatehouse/module/internal/routes"
)

// match is whether a matcher holds: what depends on more than method, host and address
// is unknown.
type match int

const (
	no match = iota
	unknown
	yes
)

// decidable are the matchers that look at nothing else.
var decidable = []string{"host", "path", "path_regexp", "method", "query", "protocol", "not"}

// follow goes through routes as Caddy does. done reports that a handler answers there.
func (e *Explainer) follow(list []routes.Route, r *http.Request) (done bool, err error) {
	taken := make(map[string]bool)
	for _, rt := range list {
		if rt.Group != "" && taken[rt.Group] {
			continue
		}
		m, on := e.matches(rt.Match, r)
		if m == no {
			continue
		}
		if m == unknown {
			decides, guarded := matters(rt)
			if !decides {
				continue
			}
			if !guarded {
				e.note("what matches the matcher %s is answered by another route first", on)
				continue
			}
			e.note("assuming that the matcher %s matches", on)
		}
		taken[rt.Group] = true
		for _, raw := range rt.Handle {
			if done, err := e.handle(raw, r); done || err != nil {
				return done, err
			}
		}
		if rt.Terminal {
			return true, nil
		}
	}
	return false, nil
}

// handle goes through one handler.
func (e *Explainer) handle(raw json.RawMessage, r *http.Request) (done bool, err error) {
	h, ok := routes.ReadHandler(raw)
	if !ok {
		return false, errors.New("reading a handler: it has no name")
	}
	switch h.Handler {
	case "subroute":
		return e.follow(h.Routes, r)
	case "invoke":
		if e.invoked == routes.MaxInvocations {
			return false, fmt.Errorf("the named route %s: named routes invoke each other more than %d deep", h.Name, routes.MaxInvocations)
		}
		e.invoked++
		defer func() { e.invoked-- }()
		return e.follow([]routes.Route{e.named[h.Name]}, r)
	case "rewrite":
		return false, e.rewrite(raw, r)
	case "gatehouse_guard":
		if e.publishes(raw, r) {
			e.note("the guard answers with the metadata of what it protects (RFC 9728), which anybody may read")
			e.at.Then = routes.Directive(h.Handler)
			return true, nil
		}
		v, err := e.judge(raw, r)
		if err != nil {
			return false, fmt.Errorf("an oauth_guard: %w", err)
		}
		e.at.Guards = append(e.at.Guards, v)
		if v.Allowed || v.Shadow {
			return false, nil
		}
		e.at.Then = ""
		return true, nil
	case "gatehouse_limit":
		return false, e.limit(raw)
	case "gatehouse_rest":
		x, err := restapi.Explain(e.handlers, raw, r)
		if err != nil {
			return false, fmt.Errorf("an api_rest: %w", err)
		}
		e.note("%s", x.Text)
		e.Declared = e.Declared || x.Declared
		if !x.Ends {
			return false, nil
		}
	case "gatehouse_health":
		if !healthAnswers(raw, r) {
			return false, nil
		}
	case "gatehouse_server":
		if !e.own.Has(r.URL.Path) {
			return false, nil
		}
	case "reverse_proxy":
		if len(h.HandleResponse) > 0 {
			// So does forward_auth, and passes the request on when its server agrees.
			e.at.Then, e.Elsewhere = h.Handler, true
			e.note("a reverse_proxy with handle_response, as forward_auth is, may answer first")
			return false, nil
		}
	case "authentication":
		e.Elsewhere = true
		e.note("the handler authentication may refuse the request first")
		return false, nil
	default:
		if !h.Answers() {
			return false, nil
		}
	}
	e.at.Then = routes.Directive(h.Handler)
	return true, nil
}

// rewrite changes the request as Caddy's own handler does.
func (e *Explainer) rewrite(raw json.RawMessage, r *http.Request) error {
	var fields map[string]json.RawMessage
	if err := json.Unmarshal(raw, &fields); err != nil {
		return err
	}
	delete(fields, "handler")
	bare, err := json.Marshal(fields)
	if err != nil {
		return err
	}
	loaded, err := e.ctx.LoadModuleByID("http.handlers.rewrite", bare)
	if err != nil {
		return err
	}
	repl, ok := r.Context().Value(caddy.ReplacerCtxKey).(*caddy.Replacer)
	if rewriter, can := loaded.(interface {
		Rewrite(*http.Request, *caddy.Replacer) bool
	}); can && ok && rewriter.Rewrite(r, repl) {
		e.note("rewritten to %s %s", r.Method, r.URL.RequestURI())
	}
	return nil
}

// matches decides matcher sets, of which one must hold. on names what it depends on.
func (e *Explainer) matches(sets []map[string]json.RawMessage, r *http.Request) (m match, on string) {
	if len(sets) == 0 {
		return yes, ""
	}
	for _, set := range sets {
		one, depends := e.matchesAll(set, r)
		if one == yes {
			return yes, ""
		}
		if one > m {
			m, on = one, depends
		}
	}
	return m, on
}

func (e *Explainer) matchesAll(set map[string]json.RawMessage, r *http.Request) (m match, on string) {
	m = yes
	for _, name := range SortedKeys(set) {
		one, depends := e.holds(name, set[name], r)
		if one == no {
			return no, ""
		}
		if one < m {
			m, on = one, depends
		}
	}
	return m, on
}

// holds asks Caddy's matcher.
func (e *Explainer) holds(name string, raw json.RawMessage, r *http.Request) (match, string) {
	if !slices.Contains(decidable, name) || name == "protocol" && e.q.Scheme == "" {
		return unknown, name
	}
	if name == "not" {
		var sets []map[string]json.RawMessage
		if json.Unmarshal(raw, &sets) != nil {
			return unknown, name
		}
		m, on := e.matches(sets, r)
		return yes - m, on
	}
	loaded, err := e.ctx.LoadModuleByID("http.matchers."+name, raw)
	if err != nil {
		return unknown, name
	}
	matcher, ok := loaded.(caddyhttp.RequestMatcherWithError)
	if !ok {
		return unknown, name
	}
	held, err := matcher.MatchWithError(r)
	switch {
	case err != nil:
		return unknown, name
	case held:
		return yes, ""
	}
	return no, ""
}

// matters reports whether anything in or below a route decides or answers, and whether a guard does.
func matters(rt routes.Route) (decides, guarded bool) {
	for _, h := range rt.Handlers() {
		guarded = guarded || h.Handler == "gatehouse_guard"
		decides = decides || guarded || h.Handler == "gatehouse_server" || h.Handler == "gatehouse_health" || h.Answers()
	}
	return decides, guarded
}

func (e *Explainer) note(format string, args ...any) {
	n := fmt.Sprintf(format, args...)
	if !slices.Contains(e.at.Notes, n) {
		e.at.Notes = append(e.at.Notes, n)
	}
}

// prepared gives a request the context that matchers expect.
func prepared(r *http.Request) *http.Request {
	return caddyhttp.PrepareRequest(r, caddy.NewReplacer(), noWriter{}, new(caddyhttp.Server))
}

// noWriter discards the answer to a request that nobody sends.
type noWriter struct{}

func (noWriter) Header() http.Header         { return http.Header{} }
func (noWriter) Write(b []byte) (int, error) { return len(b), nil }
func (noWriter) WriteHeader(int)             {}
