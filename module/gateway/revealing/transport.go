package revealing

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"

	"github.com/caddyserver/caddy/v2"
	"github.com/caddyserver/caddy/v2/modules/caddyhttp/headers"
	"github.com/caddyserver/caddy/v2/modules/caddyhttp/reverseproxy"

	"github.com/gatehouse/gatehouse/module/internal/rest/conceal"
)

func init() { caddy.RegisterModule(new(Transport)) }

// Name is the name of the transport.
const Name = "gatehouse_revealing"

// Transport is a transport of `reverse_proxy` that api_rest puts around those of its upstreams when it
// adds header fields or query parameters itself. Do not configure it yourself.
type Transport struct {
	// The transport that sends the request. Required.
	TransportRaw json.RawMessage `json:"transport,omitempty" caddy:"namespace=http.reverse_proxy.transport inline_key=protocol"`

	next http.RoundTripper
}

// CaddyModule returns the Caddy module information.
func (*Transport) CaddyModule() caddy.ModuleInfo {
	return caddy.ModuleInfo{ID: "http.reverse_proxy.transport." + Name, New: func() caddy.Module { return new(Transport) }}
}

// Provision loads the transport that sends.
func (t *Transport) Provision(ctx caddy.Context) error {
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
func (t *Transport) RoundTrip(r *http.Request) (*http.Response, error) {
	return conceal.RoundTrip(t.next, withConcealed(r))
}

// DefaultBufferSizes implements reverseproxy.BufferedTransport.
func (t *Transport) DefaultBufferSizes() (request, response int64) {
	if b, ok := t.next.(reverseproxy.BufferedTransport); ok {
		return b.DefaultBufferSizes()
	}
	return 0, 0
}

// RequestHeaderOps implements reverseproxy.RequestHeaderOpsTransport.
func (t *Transport) RequestHeaderOps() *headers.HeaderOps {
	if o, ok := t.next.(reverseproxy.RequestHeaderOpsTransport); ok {
		return o.RequestHeaderOps()
	}
	return nil
}

// ProxyProtocolEnabled implements reverseproxy.ProxyProtocolTransport.
func (t *Transport) ProxyProtocolEnabled() bool {
	p, ok := t.next.(reverseproxy.ProxyProtocolTransport)
	return ok && p.ProxyProtocolEnabled()
}

// RequiresContentLength implements reverseproxy.ContentLengthRequiredTransport.
func (t *Transport) RequiresContentLength() bool {
	l, ok := t.next.(reverseproxy.ContentLengthRequiredTransport)
	return ok && l.RequiresContentLength()
}

// OverrideHealthCheckScheme implements reverseproxy.HealthCheckSchemeOverriderTransport.
func (t *Transport) OverrideHealthCheckScheme(base *url.URL, port string) {
	if o, ok := t.next.(reverseproxy.HealthCheckSchemeOverriderTransport); ok {
		o.OverrideHealthCheckScheme(base, port)
	}
}

var (
	_ caddy.Provisioner                                = (*Transport)(nil)
	_ http.RoundTripper                                = (*Transport)(nil)
	_ reverseproxy.BufferedTransport                   = (*Transport)(nil)
	_ reverseproxy.RequestHeaderOpsTransport           = (*Transport)(nil)
	_ reverseproxy.ProxyProtocolTransport              = (*Transport)(nil)
	_ reverseproxy.ContentLengthRequiredTransport      = (*Transport)(nil)
	_ reverseproxy.HealthCheckSchemeOverriderTransport = (*Transport)(nil)
)
