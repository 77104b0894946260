package routes

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
)

// MaxInvocations bounds how deep named routes may invoke each other.
const MaxInvocations = 8

// Found is what Follow finds.
type Found struct {
	// Unreachable names handlers that no request gets to, and what answers first.
	Unreachable []string
	// Unserved names each oauth_guard and api_rest that lets requests pass to nobody: no
	// handler that may answer stands behind it in its site.
	Unserved []string
	// Unguarded are policies that need a guard and have none in front, each name once.
	Unguarded []Limit
	// Misplaced are those of Unguarded whose guard comes behind them in the same list.
	Misplaced []Limit
	// Issuers are the handlers oauth_server that answer for whole hosts. Those that
	// matchers restrict to some paths, say, are not among them.
	Issuers []Issuer
}

// Limit is a policy of an api_limit.
type Limit struct{ Policy, Source string }

// Issuer is a handler oauth_server.
type Issuer struct {
	Route  int      // index of the server's route that it is in
	Hosts  []string // nil: any
	Source string
}

// Follow goes through the routes of a server in their order. named are its named routes;
// ownPath reports whether a path is oauth_server's own, and may be nil.
func Follow(list []Route, named map[string]Route, ownPath func(string) bool) Found {
	f := &follower{named: named, ownPath: ownPath}
	f.list(list, "")
	return f.found
}

type follower struct {
	named   map[string]Route
	ownPath func(string) bool
	found   Found

	issuer  bool   // an oauth_server without a matcher stands in front
	guarded bool   // a guard may have seen the request
	guards  int    // how many were met
	waiting string // the guard or api_rest that no handler which may answer stands behind yet

	hosts      []string // that lead here, nil for any
	restricted bool     // by matchers of anything but hosts
	depth      int      // of lists
	top        int      // index of the route in the outermost list
	invoked    int      // depth of invocations
}

// before is the first limit of a list that should have a guard in front.
type before struct {
	limit *Limit
	group string
}

// list follows routes. by names the handler that answers every request before they come
// here, "" when there is none; list returns the same for what comes after.
func (f *follower) list(routes []Route, by string) string {
	open := make(map[string]bool) // groups with a route that may let a request through
	var first before
	f.depth++
	defer func() { f.depth-- }()
	for i, rt := range routes {
		if f.depth == 1 {
			f.top = i
		}
		answered := by
		if answered == "" && f.issuer && f.ownOnly(rt.Match) {
			answered = "oauth_server, whose own paths these are"
		}
		issuer, guarded, hosts, restricted := f.issuer, f.guarded, f.hosts, f.restricted
		if own, narrow := rt.Hosts(); own != nil || narrow {
			f.restricted = restricted || narrow
			if own != nil {
				f.hosts = own
			}
		}
		after := f.chain(rt, answered, &first)
		f.hosts, f.restricted = hosts, restricted
		if f.depth == 1 && (rt.Terminal || i == len(routes)-1) {
			f.unserved()
		}
		if len(rt.Match) > 0 {
			f.issuer = issuer
			if rt.Terminal {
				f.guarded = guarded // what matched goes no further
			}
			open[rt.Group] = open[rt.Group] || after == ""
			continue
		}
		if by == "" && after != "" && (rt.Group == "" || !open[rt.Group]) {
			by = after
		}
		open[rt.Group] = open[rt.Group] || after == ""
	}
	return by
}

// chain follows the handlers of a route.
func (f *follower) chain(rt Route, by string, first *before) string {
	for _, raw := range rt.Handle {
		h, ok := ReadHandler(raw)
		if !ok {
			continue
		}
		met := f.guards
		switch {
		case h.Handler == "subroute":
			by = f.list(h.Routes, by)
		case h.Handler == "invoke" && f.invoked < MaxInvocations && by == "":
			f.invoked++
			by = f.list([]Route{f.named[h.Name]}, by)
			f.invoked--
		case by != "":
			if dead := fmt.Sprintf("%s behind %s", Directive(h.Handler), by); !slices.Contains(f.found.Unreachable, dead) {
				f.found.Unreachable = append(f.found.Unreachable, dead)
			}
		default:
			by = f.handler(h, rt.Group, first)
		}
		if f.guards > met && first.limit != nil && (rt.Group == "" || rt.Group != first.group) {
			f.found.Misplaced = append(f.found.Misplaced, *first.limit)
			first.limit = nil
		}
	}
	return by
}

// handler notes a handler that is reached, and returns its name if it answers.
func (f *follower) handler(h Handler, group string, first *before) string {
	switch {
	case h.Handler == "gatehouse_guard" || h.Handler == "gatehouse_rest" && !h.Answers():
		f.waiting = Directive(h.Handler)
	case !h.passesOn():
		f.waiting = ""
	}
	switch h.Handler {
	case "gatehouse_server":
		f.issuer = true
		if !f.restricted {
			f.found.Issuers = append(f.found.Issuers, Issuer{f.top, f.hosts, h.Source})
		}
	case "gatehouse_guard":
		f.guarded = true
		f.guards++
	case "authentication":
		if _, ours := h.Providers["gatehouse"]; ours {
			f.guarded = true
			f.guards++
		}
	case "gatehouse_limit":
		f.limit(h, group, first)
	case "reverse_proxy":
		if len(h.HandleResponse) == 0 {
			return h.Handler
		}
	case "acme_server": // which answers its own paths
	default:
		if h.Answers() {
			return Directive(h.Handler)
		}
	}
	return ""
}

// unserved notes at the end of a site whom nobody stands behind.
func (f *follower) unserved() {
	if f.waiting != "" && !slices.Contains(f.found.Unserved, f.waiting) {
		f.found.Unserved = append(f.found.Unserved, f.waiting)
	}
	f.waiting = ""
}

// passesOn reports whether a handler is known to leave the requests of an API to the handler
// behind it. Any other may answer them.
func (h Handler) passesOn() bool {
	switch h.Handler {
	case "gatehouse_server", "gatehouse_guard", "gatehouse_limit", "gatehouse_errors", "gatehouse_health", "acme_server", "authentication", "copy_response_headers",
		"encode", "headers", "intercept", "log_append", "map", "push", "request_body", "rewrite", "templates", "tracing", "vars":
		return true
	}
	return false
}

// limit notes policies that count callers whom nobody has identified.
func (f *follower) limit(h Handler, group string, first *before) {
	if f.guarded {
		return
	}
	for _, p := range h.Policies {
		if !p.NeedsGuard() {
			continue
		}
		l := Limit{p.Name, h.Source}
		if first.limit == nil {
			*first = before{&l, group}
		}
		if !slices.ContainsFunc(f.found.Unguarded, func(o Limit) bool { return o.Policy == l.Policy }) {
			f.found.Unguarded = append(f.found.Unguarded, l)
		}
	}
}

// ownOnly reports whether matchers match nothing but paths of oauth_server.
func (f *follower) ownOnly(sets []map[string]json.RawMessage) bool {
	return f.ownPath != nil && len(sets) > 0 && !slices.ContainsFunc(sets, func(set map[string]json.RawMessage) bool {
		var paths []string
		return json.Unmarshal(set["path"], &paths) != nil || len(paths) == 0 || slices.ContainsFunc(paths, func(path string) bool {
			rest, below := strings.CutSuffix(path, "/*")
			return strings.Contains(rest, "*") || !f.ownPath(rest) || below && !f.ownPath(rest+"/x")
		})
	})
}
