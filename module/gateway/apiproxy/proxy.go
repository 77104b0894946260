package apiproxy

import (
	"cmp"
	"context"
	"crypto/tls"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"sync/atomic"
	"time"

	"github.com/caddyserver/caddy/v2"
	"github.com/caddyserver/caddy/v2/caddyconfig"
	"github.com/caddyserver/caddy/v2/modules/caddyhttp"

	"github.com/gatehouse/gatehouse/module/gateway/revealing"
	"github.com/gatehouse/gatehouse/module/internal/http1"
	"github.com/gatehouse/gatehouse/module/internal/metrics"
)

func init() { caddy.RegisterModule(new(Proxy)) }

// Proxy is the handler of the directive `api_proxy`: it sends requests to servers that speak HTTP/1.1, over TCP, TLS
// or unix sockets. What it sends and answers is what `reverse_proxy` sends and answers without
// further settings. Requests that switch protocols, such as those of WebSocket, are handed to an internal
// `reverse_proxy` with the same servers. So are all requests if the environment variables HTTP_PROXY,
// HTTPS_PROXY and NO_PROXY configure a forward proxy for one of the servers; an unreachable server is
// 502 there. For HTTP/2 or HTTP/3 to the servers, active health checks and everything else without an
// option here, use `reverse_proxy` itself.
//
// It sets these placeholders.
//
// Placeholder | Description
// ------------|---------------
// `{http.reverse_proxy.upstream.address}` | The server as configured
// `{http.reverse_proxy.upstream.hostport}` | The address that was dialed
// `{http.reverse_proxy.upstream.latency_ms}` | Milliseconds until the header fields of the answer, without servers that could not be reached
// `{http.reverse_proxy.upstream.duration_ms}` | Milliseconds until the end of the answer, without servers that could not be reached
// `{http.reverse_proxy.status_code}` | The status of the answer
// `{http.reverse_proxy.retries}` | How often the request went on to another server because one could not be reached
type Proxy struct {
	// The servers: `host:port`, `https://host`, or `unix//path`. All of them with
	// TLS or none. At least one is required.
	Upstreams []string `json:"upstreams,omitempty"`
	// How one of several servers is chosen: `round_robin` (the default) or `least_conn`, the one
	// with the fewest requests in progress.
	Policy string `json:"lb_policy,omitempty"`
	// How long a server that could not be reached is left out while there are others. Default: 10s.
	FailDuration caddy.Duration `json:"fail_duration,omitempty"`
	// How long connecting may take, including the TLS handshake. Default: 3s.
	DialTimeout caddy.Duration `json:"dial_timeout,omitempty"`
	// How long a server may take until the header fields of its answer. Default: no limit.
	HeaderTimeout caddy.Duration `json:"response_header_timeout,omitempty"`
	// How long a server may send nothing in the middle of an answer. Default: no limit.
	ReadTimeout caddy.Duration `json:"read_timeout,omitempty"`
	// How long a server may accept nothing in the middle of a request. Default: no limit.
	WriteTimeout caddy.Duration `json:"write_timeout,omitempty"`
	// How long an idle connection is kept. Default: 2m.
	KeepAlive caddy.Duration `json:"keepalive,omitempty"`
	// How many idle connections to a server are kept. Default: 256.
	MaxIdle int `json:"max_idle,omitempty"`
	// The size of an answer's status line and header fields, in bytes. Default: 256 KiB.
	MaxHeader int `json:"max_header,omitempty"`
	// The name that certificates of servers must have. Default: the host of the server.
	ServerName string `json:"tls_server_name,omitempty"`
	// Files with the CA certificates, in PEM form, that servers' certificates are verified against.
	// Excludes `tls_trust_pool`. Default: the system's.
	TrustFiles []string `json:"tls_trust,omitempty"`
	// The CA certificates that servers' certificates are verified against, from one of Caddy's modules, such as
	// `{"provider": "file", "pem_files": ["/etc/ssl/api.pem"]}`. Default: the system's.
	TrustPool json.RawMessage `json:"tls_trust_pool,omitempty" caddy:"namespace=tls.ca_pool.source inline_key=provider"`

	servers   []*server
	trustPool json.RawMessage             // TrustPool, which loading its module clears
	next      atomic.Uint32               // counts requests, for round robin
	fallback  caddyhttp.MiddlewareHandler // reverse_proxy
	forwarded bool                        // there is a proxy on the way to a server, and fallback gets all requests
	log       *slog.Logger
	stripHost bool // the Host that servers with TLS are sent is their own
}

// CaddyModule returns the Caddy module information.
func (*Proxy) CaddyModule() caddy.ModuleInfo {
	return caddy.ModuleInfo{ID: "http.handlers.gatehouse_proxy", New: func() caddy.Module { return new(Proxy) }}
}

// CheckUpstreams reports what is wrong with the upstreams.
func (p *Proxy) CheckUpstreams() error {
	_, err := p.addresses()
	return err
}

// addresses returns where the upstreams listen.
func (p *Proxy) addresses() ([]address, error) {
	if n := len(p.Upstreams); n == 0 || n > maxServers {
		return nil, fmt.Errorf("api_proxy: %d upstreams, expected 1 to %d", n, maxServers)
	}
	var all []address
	for _, text := range p.Upstreams {
		a, err := parseAddress(text)
		if err != nil {
			return nil, fmt.Errorf("api_proxy: %w", err)
		}
		if len(all) > 0 && all[0].secure != a.secure {
			return nil, errors.New("api_proxy: either all upstreams or none must have https://; write one api_proxy for each kind")
		}
		all = append(all, a)
	}
	return all, nil
}

// Provision prepares the connections; it opens none.
func (p *Proxy) Provision(ctx caddy.Context) error {
	p.log = ctx.Slogger()
	if err := metrics.Register(ctx.GetMetricsRegistry()); err != nil {
		return err
	}
	switch p.Policy {
	case "", "round_robin", "least_conn":
	default:
		return fmt.Errorf("api_proxy: unknown lb_policy %q, expected round_robin or least_conn", p.Policy)
	}
	addresses, err := p.addresses()
	if err != nil {
		return err
	}
	roots, err := p.loadRoots(ctx)
	if err != nil {
		return fmt.Errorf("api_proxy: %w", err)
	}
	p.FailDuration = cmp.Or(p.FailDuration, caddy.Duration(10*time.Second))
	p.DialTimeout = cmp.Or(p.DialTimeout, caddy.Duration(3*time.Second))
	p.KeepAlive = cmp.Or(p.KeepAlive, caddy.Duration(2*time.Minute))
	p.MaxIdle, p.MaxHeader = cmp.Or(p.MaxIdle, 256), cmp.Or(p.MaxHeader, 256<<10)
	for i, a := range addresses {
		var config *tls.Config
		if a.secure {
			config = &tls.Config{ServerName: cmp.Or(p.ServerName, a.host), RootCAs: roots, NextProtos: []string{"http/1.1"}, MinVersion: tls.VersionTLS12}
		}
		p.servers = append(p.servers, &server{address: a, text: p.Upstreams[i], failures: metrics.Set{}.Unreachable(p.Upstreams[i]), transport: p.newTransport(a, config)})
		p.forwarded = p.forwarded || a.hasForwardProxy()
	}
	p.stripHost = p.servers[0].secure
	return p.loadFallback(ctx)
}

// newTransport returns the connections to a server.
func (p *Proxy) newTransport(a address, config *tls.Config) *http1.Transport {
	return &http1.Transport{
		Dial: func(ctx context.Context) (net.Conn, error) {
			ctx, cancel := context.WithTimeout(ctx, time.Duration(p.DialTimeout))
			defer cancel()
			c, err := new(net.Dialer).DialContext(ctx, a.network, a.dial)
			if err != nil || config == nil {
				return c, err
			}
			return http1.Secure(ctx, c, config)
		},
		MaxIdle: p.MaxIdle, IdleTimeout: time.Duration(p.KeepAlive),
		HeaderTimeout: time.Duration(p.HeaderTimeout), ReadTimeout: time.Duration(p.ReadTimeout), WriteTimeout: time.Duration(p.WriteTimeout),
		MaxHeaderBytes: p.MaxHeader,
	}
}

// loadFallback loads the reverse_proxy for what api_proxy hands on. It conceals from its log what
// api_rest adds to requests.
func (p *Proxy) loadFallback(ctx caddy.Context) error {
	type upstream struct {
		Dial string `json:"dial"`
	}
	var proxy struct {
		Upstreams []upstream     `json:"upstreams"`
		Transport map[string]any `json:"transport"`
		Balancing map[string]any `json:"load_balancing"`
		Health    map[string]any `json:"health_checks,omitempty"`
	}
	proxy.Balancing = map[string]any{"selection_policy": map[string]any{"policy": cmp.Or(p.Policy, "round_robin")}}
	if len(p.servers) > 1 {
		proxy.Health = map[string]any{"passive": map[string]any{"fail_duration": p.FailDuration}}
	}
	for _, s := range p.servers {
		proxy.Upstreams = append(proxy.Upstreams, upstream{s.caddyAddress()})
	}
	proxy.Transport = map[string]any{"protocol": revealing.Name, "transport": p.fallbackTransport()}
	m, err := ctx.LoadModuleByID("http.handlers.reverse_proxy", json.RawMessage(caddyconfig.JSON(proxy, nil)))
	if err != nil {
		return fmt.Errorf("api_proxy: %w", err)
	}
	p.fallback = m.(caddyhttp.MiddlewareHandler)
	return nil
}

// fallbackTransport is the configuration of that reverse_proxy's transport.
func (p *Proxy) fallbackTransport() map[string]any {
	t := map[string]any{
		"protocol": "http", "versions": []string{"1.1"}, "compression": false, "dial_timeout": p.DialTimeout,
		"response_header_timeout": p.HeaderTimeout, "max_response_header_size": p.MaxHeader,
	}
	if p.forwarded { // else for WebSocket alone, which may be silent for as long as it likes
		t["read_timeout"], t["write_timeout"] = p.ReadTimeout, p.WriteTimeout
		t["keep_alive"] = map[string]any{"idle_timeout": p.KeepAlive, "max_idle_conns_per_host": p.MaxIdle}
	}
	if !p.servers[0].secure {
		return t
	}
	config := map[string]any{"server_name": p.ServerName}
	switch {
	case p.trustPool != nil:
		config["ca"] = p.trustPool
	case len(p.TrustFiles) > 0:
		config["ca"] = map[string]any{"provider": "file", "pem_files": p.TrustFiles}
	}
	t["tls"] = config
	return t
}

// Cleanup closes idle connections. Requests in progress end as they would.
func (p *Proxy) Cleanup() error {
	for _, s := range p.servers {
		s.transport.Close()
	}
	return nil
}

// Interface guards
var (
	_ caddy.Provisioner           = (*Proxy)(nil)
	_ caddy.CleanerUpper          = (*Proxy)(nil)
	_ caddyhttp.MiddlewareHandler = (*Proxy)(nil)
)
