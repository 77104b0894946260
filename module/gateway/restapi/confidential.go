package restapi

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"

	"github.com/caddyserver/caddy/v2"
	"github.com/caddyserver/caddy/v2/modules/caddyhttp"
	"github.com/caddyserver/caddy/v2/modules/caddyhttp/headers"
	"github.com/caddyserver/caddy/v2/modules/caddyhttp/reverseproxy"
)

func init() { caddy.RegisterModule(new(Revealing)) }

// revealing is the name of the transport.
const revealing = "gatehouse_revealing"

// Revealing is a transport of `reverse_proxy` that api_rest puts around those of its upstreams, if it
// adds header fields or parameters of the query itself. It is of no use in a configuration.
type Revealing struct {
	// The transport that sends the request. Required.
	TransportRaw json.RawMessage `json:"transport,omitempty" caddy:"namespace=http.reverse_proxy.transport inline_key=protocol"`

	next http.RoundTripper
}

// CaddyModule returns the Caddy module information.
func (*Revealing) CaddyModule() caddy.ModuleInfo {
	return caddy.ModuleInfo{ID: "http.reverse_proxy.transport." + revealing, New: func() caddy.Module { return new(Revealing) }}
}

// Provision loads the transport that sends.
func (t *Revealing) Provision(ctx caddy.Context) error {
	m, err := ctx.LoadModule(t, "TransportRaw")
	if err != nil {
		return fmt.Errorf("loading transport: %w", err)
	}
	next, ok := m.(http.RoundTripper)
	if !ok {
		return fmt.Errorf("%T is no transport of reverse_proxy", m)
	}
	t.next = next
	return nil
}

// RoundTrip implements http.RoundTripper.
func (t *Revealing) RoundTrip(r *http.Request) (*http.Response, error) {
	c, ok := r.Context().Value(concealedKey{}).(*concealed)
	if !ok {
		return t.next.RoundTrip(r)
	}
	a, err := t.next.RoundTrip(c.reveal(r))
	if err == nil {
		c.keep(a.Header)
	}
	return a, err
}

// DefaultBufferSizes implements reverseproxy.BufferedTransport.
func (t *Revealing) DefaultBufferSizes() (request, response int64) {
	if b, ok := t.next.(reverseproxy.BufferedTransport); ok {
		return b.DefaultBufferSizes()
	}
	return 0, 0
}

// RequestHeaderOps implements reverseproxy.RequestHeaderOpsTransport.
func (t *Revealing) RequestHeaderOps() *headers.HeaderOps {
	if o, ok := t.next.(reverseproxy.RequestHeaderOpsTransport); ok {
		return o.RequestHeaderOps()
	}
	return nil
}

// ProxyProtocolEnabled implements reverseproxy.ProxyProtocolTransport.
func (t *Revealing) ProxyProtocolEnabled() bool {
	p, ok := t.next.(reverseproxy.ProxyProtocolTransport)
	return ok && p.ProxyProtocolEnabled()
}

// RequiresContentLength implements reverseproxy.ContentLengthRequiredTransport.
func (t *Revealing) RequiresContentLength() bool {
	l, ok := t.next.(reverseproxy.ContentLengthRequiredTransport)
	return ok && l.RequiresContentLength()
}

// OverrideHealthCheckScheme implements reverseproxy.HealthCheckSchemeOverriderTransport.
func (t *Revealing) OverrideHealthCheckScheme(base *url.URL, port string) {
	if o, ok := t.next.(reverseproxy.HealthCheckSchemeOverriderTransport); ok {
		o.OverrideHealthCheckScheme(base, port)
	}
}

// concealingRoutes puts the transport into all proxies of routes that are not yet loaded. It
// reports false, and leaves the routes as they are, where a handler or a matcher might read what
// is concealed: then requests have it from the start.
func concealingRoutes(routes caddyhttp.RouteList) (caddyhttp.RouteList, bool) {
	text, err := json.Marshal(routes)
	if err != nil {
		return routes, false
	}
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber()
	var all any
	if d.Decode(&all) != nil || !concealing(all) {
		return routes, false
	}
	changed, err := json.Marshal(all)
	if err != nil {
		return routes, false
	}
	var own caddyhttp.RouteList
	if json.Unmarshal(changed, &own) != nil {
		return routes, false
	}
	return own, true
}

// concealing changes the proxies in a part of a configuration, and reports whether all in it is
// known to read nothing of what is concealed.
func concealing(part any) bool {
	switch part := part.(type) {
	case []any:
		for _, p := range part {
			if !concealing(p) {
				return false
			}
		}
	case map[string]any:
		if name, ok := part["handler"].(string); ok && (!unseeing[name] || name == "reverse_proxy" && !concealingProxy(part)) {
			return false
		}
		for name, p := range part {
			if (name == "match" || name == "retry_match") && !matchesBlindly(p) || !concealing(p) {
				return false
			}
		}
	}
	return true
}

// unseeing are handlers that read neither header fields nor the query of a request, or only by
// placeholders: these are of the request without what the gateway adds.
var unseeing = map[string]bool{
	"copy_response": true, "copy_response_headers": true, "encode": true, "error": true, "headers": true, "intercept": true, "log_append": true, "map": true,
	"request_body": true, "reverse_proxy": true, "rewrite": true, "static_response": true, "subroute": true, "tracing": true, "vars": true,
}

// blind are matchers that do the same.
var blind = map[string]bool{
	"client_ip": true, "file": true, "host": true, "method": true, "path": true, "path_regexp": true, "protocol": true, "remote_ip": true, "tls": true,
	"vars": true, "vars_regexp": true,
}

// matchesBlindly reports whether sets of matchers are all blind. A proxy's `match` about answers,
// in handle_response, has other members.
func matchesBlindly(sets any) bool {
	if of, ok := sets.(map[string]any); ok {
		return of["status_code"] != nil && of["headers"] == nil
	}
	list, _ := sets.([]any)
	for _, set := range list {
		matchers, _ := set.(map[string]any)
		for name, m := range matchers {
			if name == "not" && matchesBlindly(m) || blind[name] {
				continue
			}
			return false
		}
	}
	return true
}

// concealingProxy puts the transport into a proxy. It reports false where the proxy changes what
// fields are, or chooses upstreams by them.
func concealingProxy(proxy map[string]any) bool {
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
	proxy["transport"] = map[string]any{"protocol": revealing, "transport": inner}
	return true
}

// at is the member of a member, or nil.
func at(part any, names ...string) any {
	for _, name := range names {
		members, _ := part.(map[string]any)
		part = members[name]
	}
	return part
}

// Interface guards
var (
	_ caddy.Provisioner                                = (*Revealing)(nil)
	_ http.RoundTripper                                = (*Revealing)(nil)
	_ reverseproxy.BufferedTransport                   = (*Revealing)(nil)
	_ reverseproxy.RequestHeaderOpsTransport           = (*Revealing)(nil)
	_ reverseproxy.ProxyProtocolTransport              = (*Revealing)(nil)
	_ reverseproxy.ContentLengthRequiredTransport      = (*Revealing)(nil)
	_ reverseproxy.HealthCheckSchemeOverriderTransport = (*Revealing)(nil)
)
