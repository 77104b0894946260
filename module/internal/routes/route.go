package routes

import (
	"encoding/json"
	"iter"
	"slices"
	"strings"

	"github.com/caddyserver/caddy/v2"
	"github.com/caddyserver/caddy/v2/caddyconfig"
	"github.com/caddyserver/caddy/v2/modules/caddyhttp"
	"github.com/caddyserver/caddy/v2/modules/caddyhttp/caddyauth"
)

// Route is a route as the configuration has it.
type Route struct {
	Group    string                       `json:"group,omitempty"`
	Match    []map[string]json.RawMessage `json:"match,omitempty"`
	Handle   []json.RawMessage            `json:"handle,omitempty"`
	Terminal bool                         `json:"terminal,omitempty"`
}

// Handler holds the fields of handlers that decide where a request goes.
type Handler struct {
	Handler        string            `json:"handler"`
	Source         string            `json:"source,omitempty"` // of oauth_server and api_limit
	Routes         []Route           `json:"routes,omitempty"`
	Policies       []Policy          `json:"policies,omitempty"`        // of api_limit
	Name           string            `json:"name,omitempty"`            // of invoke
	Upstream       []json.RawMessage `json:"upstream,omitempty"`        // of api_rest
	PassThru       bool              `json:"pass_thru,omitempty"`       // of file_server
	HandleResponse []json.RawMessage `json:"handle_response,omitempty"` // of reverse_proxy

	Providers map[string]json.RawMessage `json:"providers,omitempty"` // of authentication
}

// Policy is one limit of an api_limit.
type Policy struct {
	Name string `json:"name"`
	By   string `json:"by"`
}

// NeedsGuard reports whether a policy counts by something that only a guard in front can
// tell. Without a guard such a policy applies to no request.
func (p Policy) NeedsGuard() bool {
	return p.By == "client" || p.By == "user" || p.By == "route" || strings.Contains(p.By, "{http.auth.user.")
}

// ReadHandler reads a handler. Handlers of others may use our field names for other types; of
// these only the name is read.
func ReadHandler(raw json.RawMessage) (h Handler, ok bool) {
	var named struct {
		Handler string `json:"handler"`
	}
	if json.Unmarshal(raw, &named) != nil {
		return h, false
	}
	if json.Unmarshal(raw, &h) != nil {
		h = Handler{Handler: named.Handler}
	}
	return h, true
}

// Answers reports whether the handler ends the chain.
func (h Handler) Answers() bool {
	switch h.Handler {
	case "reverse_proxy", "gatehouse_proxy", "static_response", "error", "acme_server", "metrics":
		return true
	case "file_server":
		return !h.PassThru
	case "gatehouse_rest":
		return len(h.Upstream) > 0
	}
	return false
}

// Handlers iterates over the handlers in and below the route.
func (rt Route) Handlers() iter.Seq2[json.RawMessage, Handler] {
	return func(yield func(json.RawMessage, Handler) bool) { rt.handlers(yield) }
}

func (rt Route) handlers(yield func(json.RawMessage, Handler) bool) bool {
	for _, raw := range rt.Handle {
		h, ok := ReadHandler(raw)
		if ok && !yield(raw, h) || slices.ContainsFunc(h.Routes, func(below Route) bool { return !below.handlers(yield) }) {
			return false
		}
	}
	return true
}

// Hosts returns the hosts that the route's matchers name, nil if a set of matchers names
// none. restricted reports whether the matchers look at anything else.
func (rt Route) Hosts() (hosts []string, restricted bool) {
	anyHost := len(rt.Match) == 0
	for _, set := range rt.Match {
		var named []string
		if json.Unmarshal(set["host"], &named) != nil || len(named) == 0 {
			anyHost = true
		}
		for _, h := range named {
			hosts = append(hosts, strings.ToLower(h))
		}
		_, has := set["host"]
		restricted = restricted || len(set) > 1 || len(set) == 1 && !has
	}
	if anyHost {
		return nil, restricted
	}
	slices.Sort(hosts)
	return slices.Compact(hosts), restricted
}

// FromLoaded returns routes of a configuration that is being provisioned. Caddy drops the
// text of matchers and handlers once it has loaded them, so they are written again: ours
// and subroutes whole, others by name alone.
func FromLoaded(list caddyhttp.RouteList) []Route {
	all := make([]Route, 0, len(list))
	for _, rt := range list {
		one := Route{Group: rt.Group, Terminal: rt.Terminal, Handle: slices.Clone(rt.HandlersRaw)}
		for _, set := range rt.MatcherSetsRaw {
			one.Match = append(one.Match, set)
		}
		for _, set := range rt.MatcherSets {
			matchers := make(map[string]json.RawMessage, len(set))
			for _, m := range set {
				text := json.RawMessage("null")
				if hosts, ok := m.(*caddyhttp.MatchHost); ok {
					text = caddyconfig.JSON(hosts, nil)
				}
				matchers[caddy.GetModuleName(m)] = text
			}
			one.Match = append(one.Match, matchers)
		}
		for _, h := range rt.Handlers {
			one.Handle = append(one.Handle, fromLoadedHandler(h))
		}
		all = append(all, one)
	}
	return all
}

func fromLoadedHandler(h caddyhttp.MiddlewareHandler) json.RawMessage {
	name := caddy.GetModuleName(h)
	if sub, ok := h.(*caddyhttp.Subroute); ok {
		return caddyconfig.JSON(Handler{Handler: name, Routes: FromLoaded(sub.Routes)}, nil)
	}
	if auth, ok := h.(*caddyauth.Authentication); ok {
		providers := make(map[string]json.RawMessage, len(auth.Providers))
		for provider := range auth.Providers {
			providers[provider] = json.RawMessage("{}")
		}
		return caddyconfig.JSON(Handler{Handler: name, Providers: providers}, nil)
	}
	if slices.Contains([]string{"gatehouse_server", "gatehouse_guard", "gatehouse_limit", "invoke"}, name) {
		return caddyconfig.JSONModuleObject(h, "handler", name, nil)
	}
	return caddyconfig.JSON(Handler{Handler: name}, nil)
}
