package restapi

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"

	"github.com/caddyserver/caddy/v2"
	"github.com/caddyserver/caddy/v2/modules/caddyhttp"
	"github.com/caddyserver/caddy/v2/modules/caddyhttp/headers"
	"github.com/caddyserver/caddy/v2/modules/caddyhttp/reverseproxy"

	"github.com/gatehouse/gatehouse/module/internal/rest/conceal"
)

func init() { caddy.RegisterModule(new(Revealing)) }

// concealInRoutes puts the transport `gatehouse_revealing` into all proxies of routes that are not
// yet loaded. It reports false, and leaves the routes as they are, where a handler or a matcher might
// read what is concealed.
func concealInRoutes(routes caddyhttp.RouteList) (caddyhttp.RouteList, bool) {
	text, err := json.Marshal(routes)
	if err != nil {
		return routes, false
	}
	changed, ok := conceal.WrapTransports(text, revealing)
	var own caddyhttp.RouteList
	if !ok || json.Unmarshal(changed, &own) != nil {
		return routes, false
	}
	return own, true
}

// revealing is the name of the transport.
const revealing = "gatehouse_revealing"

// Revealing is a transport of `reverse_proxy` that api_rest puts around those of its upstreams when it
// adds header fields or query parameters itself. Do not configure it yourself.
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
	return conceal.RoundTrip(t.next, r)
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

var (
	_ caddy.Provisioner                                = (*Revealing)(nil)
	_ http.RoundTripper                                = (*Revealing)(nil)
	_ reverseproxy.BufferedTransport                   = (*Revealing)(nil)
	_ reverseproxy.RequestHeaderOpsTransport           = (*Revealing)(nil)
	_ reverseproxy.ProxyProtocolTransport              = (*Revealing)(nil)
	_ reverseproxy.ContentLengthRequiredTransport      = (*Revealing)(nil)
	_ reverseproxy.HealthCheckSchemeOverriderTransport = (*Revealing)(nil)
)
