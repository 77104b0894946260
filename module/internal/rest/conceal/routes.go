package conceal

import (
	"bytes"
	"encoding/json"
)

// WrapTransports wraps the transports of all proxies in Caddy routes, given as JSON, in a
// transport with the name protocol, which is to call RoundTrip. It reports false where a handler
// or a matcher might read what is concealed: such requests must have it from the start.
func WrapTransports(routes []byte, protocol string) ([]byte, bool) {
	d := json.NewDecoder(bytes.NewReader(routes))
	d.UseNumber()
	var all any
	if d.Decode(&all) != nil || !wrapTransports(all, protocol) {
		return nil, false
	}
	changed, err := json.Marshal(all)
	return changed, err == nil
}

// wrapTransports wraps the transports in a part of a configuration, and reports whether everything
// in it is known not to read what is concealed.
func wrapTransports(part any, protocol string) bool {
	switch part := part.(type) {
	case []any:
		for _, p := range part {
			if !wrapTransports(p, protocol) {
				return false
			}
		}
	case map[string]any:
		if name, ok := part["handler"].(string); ok && (!blindHandlers[name] || name == "reverse_proxy" && !wrapTransport(part, protocol)) {
			return false
		}
		for name, p := range part {
			if (name == "match" || name == "retry_match") && !matchesBlindly(p) || !wrapTransports(p, protocol) {
				return false
			}
		}
	}
	return true
}

// blindHandlers read neither header fields nor the query of a request, or only with placeholders,
// which have the request without what is concealed. api_proxy calls [Reveal] for what it sends, and
// logs no field of it.
var blindHandlers = map[string]bool{
	"gatehouse_proxy": true, "copy_response": true, "copy_response_headers": true, "encode": true, "error": true, "headers": true, "intercept": true, "log_append": true, "map": true,
	"request_body": true, "reverse_proxy": true, "rewrite": true, "static_response": true, "subroute": true, "tracing": true, "vars": true,
}

// blindMatchers do the same.
var blindMatchers = map[string]bool{
	"client_ip": true, "file": true, "host": true, "method": true, "path": true, "path_regexp": true, "protocol": true, "remote_ip": true, "tls": true,
	"vars": true, "vars_regexp": true,
}

// matchesBlindly reports whether all matchers of some sets are blind. The `match` of a proxy's
// handle_response, which is about answers, has other members.
func matchesBlindly(sets any) bool {
	if of, ok := sets.(map[string]any); ok {
		return of["status_code"] != nil && of["headers"] == nil
	}
	list, _ := sets.([]any)
	for _, set := range list {
		matchers, _ := set.(map[string]any)
		for name, m := range matchers {
			if name == "not" && matchesBlindly(m) || blindMatchers[name] {
				continue
			}
			return false
		}
	}
	return true
}

// wrapTransport wraps the transport of a proxy. It reports false where the proxy changes fields
// depending on their values, or chooses upstreams by them.
func wrapTransport(proxy map[string]any, protocol string) bool {
	if changes, ok := at(proxy, "headers", "request").(map[string]any); ok && (changes["replace"] != nil || changes["add"] != nil) {
		return false
	}
	switch at(proxy, "load_balancing", "selection_policy", "policy") {
	case "cookie", "header", "query":
		return false
	}
	inner := proxy["transport"]
	if inner == nil {
		inner = map[string]any{"protocol": "http"}
	}
	proxy["transport"] = map[string]any{"protocol": protocol, "transport": inner}
	return true
}

// at returns the member of a member, or nil.
func at(part any, names ...string) any {
	for _, name := range names {
		members, _ := part.(map[string]any)
		part = members[name]
	}
	return part
}
