package cli

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/gatehouse/gatehouse/module/authserver"
	"github.com/gatehouse/gatehouse/module/gateway"
	"github.com/gatehouse/gatehouse/module/gateway/adminapi"
)

// reach follows the routes of a server in order, to find handlers that no request gets to
// and limits that no guard stands in front of.
type reach struct {
	named map[string]route
	own   authserver.OwnPaths
	// issuer: an oauth_server without a matcher stands in front.
	issuer bool
	// guarded: a guard may have seen the request.
	guarded bool
	depth   int

	dead      []string // what is never reached, and why
	unguarded []string // policies of limits that no guard fills
}

// maxInvocations bounds how deep named routes may invoke each other.
const maxInvocations = 8

// reachability looks for handlers that are never reached, and for limits by caller that
// stand in front of the guard that would say who calls.
func (p patient) reachability() []adminapi.Finding {
	var out []adminapi.Finding
	for _, name := range sortedKeys(p.servers) {
		s := p.servers[name]
		r := &reach{named: s.NamedRoutes, own: authserver.NewOwnPaths(p.issuer.Path, p.app.Registration != nil)}
		for _, rt := range s.Routes {
			// Sites do not follow each other.
			r.issuer, r.guarded = false, false
			r.follow([]route{rt}, "")
		}
		where := fmt.Sprintf("server %s (%s)", name, strings.Join(s.Listen, " "))
		for _, dead := range r.dead {
			out = append(out, adminapi.Warned("reach", "remove it, put it in front, or give what answers first a matcher; inside `route` directives run in the order in which they are written",
				"%s: no request reaches %s", where, dead))
		}
		for _, policy := range r.unguarded {
			out = append(out, adminapi.Broken("limit", "put oauth_guard in front of api_limit, as the order of directives outside `route` and `handle` does, or limit by `ip`",
				"%s: the policy %s of an api_limit counts nobody, because no oauth_guard stands in front of it", where, policy))
		}
	}
	if len(out) == 0 {
		out = append(out, adminapi.Fine("reach", "every handler can be reached, and limits by caller stand behind a guard"))
	}
	return out
}

// follow goes through routes. by names the handler that answers every request before they
// come here, "" when there is none; what it returns is that for what comes after.
func (r *reach) follow(routes []route, by string) string {
	open := make(map[string]bool) // groups with a route that may let a request through
	for _, rt := range routes {
		before := by
		if before == "" && r.issuer && r.ownOnly(rt.Match) {
			before = "oauth_server, whose own paths these are"
		}
		issuer := r.issuer
		after := r.handlers(rt.Handle, before)
		if len(rt.Match) > 0 {
			r.issuer = issuer
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

// handlers goes through one chain.
func (r *reach) handlers(chain []json.RawMessage, by string) string {
	for _, raw := range chain {
		var h handler
		if json.Unmarshal(raw, &h) != nil {
			continue
		}
		switch {
		case h.Handler == "subroute":
			by = r.follow(h.Routes, by)
			continue
		case h.Handler == "invoke" && r.depth < maxInvocations && by == "":
			r.depth++
			by = r.follow([]route{r.named[h.Name]}, by)
			r.depth--
			continue
		case by != "":
			if dead := fmt.Sprintf("%s behind %s", h.Handler, by); !slices.Contains(r.dead, dead) {
				r.dead = append(r.dead, dead)
			}
			continue
		}
		switch h.Handler {
		case "oauth_server":
			r.issuer = true
		case "oauth_guard":
			r.guarded = true
		case "api_limit":
			r.limit(raw)
		case "reverse_proxy":
			if len(h.HandleResponse) == 0 {
				by = h.Handler
			}
		case "acme_server": // which answers its own paths
		default:
			if h.answers() {
				by = h.Handler
			}
		}
	}
	return by
}

// limit notes the policies of an api_limit that count callers whom nobody has identified.
func (r *reach) limit(raw json.RawMessage) {
	var l gateway.Limit
	if r.guarded || json.Unmarshal(raw, &l) != nil {
		return
	}
	for _, p := range l.Policies {
		if p.NeedsGuard() && !slices.Contains(r.unguarded, p.Name) {
			r.unguarded = append(r.unguarded, p.Name)
		}
	}
}

// ownOnly reports whether matchers match nothing but paths of oauth_server.
func (r *reach) ownOnly(sets []map[string]json.RawMessage) bool {
	return len(sets) > 0 && !slices.ContainsFunc(sets, func(set map[string]json.RawMessage) bool {
		var paths []string
		return json.Unmarshal(set["path"], &paths) != nil || len(paths) == 0 || slices.ContainsFunc(paths, func(path string) bool {
			rest, below := strings.CutSuffix(path, "/*")
			return strings.Contains(rest, "*") || !r.own.Has(rest) || below && !r.own.Has(rest+"/x")
		})
	})
}
