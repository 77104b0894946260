package caddyfile

import (
	"encoding/json"
	"errors"
	"slices"
	"strings"

	"github.com/caddyserver/caddy/v2"
	"github.com/caddyserver/caddy/v2/caddyconfig"
	"github.com/caddyserver/caddy/v2/caddyconfig/caddyfile"
	"github.com/caddyserver/caddy/v2/caddyconfig/httpcaddyfile"
	"github.com/caddyserver/caddy/v2/modules/caddyhttp"

	"github.com/gatehouse/gatehouse/caddyfile/internal/parse"
	"github.com/gatehouse/gatehouse/module/gateway/apiproxy"
)

// parseProxy parses api_proxy.
//
//	api_proxy [<matcher>] <upstreams...> {
//		to <upstreams...>
//		lb_policy round_robin|least_conn
//		fail_duration|dial_timeout|response_header_timeout|read_timeout|write_timeout|keepalive <duration>
//		max_idle <n>
//		max_header <size>
//		tls_server_name <name>
//		tls_trust <files...>
//		tls_trust_pool <module> ...
//	}
func parseProxy(h httpcaddyfile.Helper) (caddyhttp.MiddlewareHandler, error) {
	h.Next()
	head := h.Token()
	p := &apiproxy.Proxy{Upstreams: h.RemainingArgs()}
	size := func(d *caddyfile.Dispenser) (int, error) {
		n, err := parse.Size(d)
		return int(n), err
	}
	err := parse.Words{
		"to":                      parse.List(&p.Upstreams, "addresses such as 10.0.1.20:8080"),
		"lb_policy":               parse.Once(&p.Policy, parse.Choice("round_robin", "least_conn")),
		"fail_duration":           parse.Once(&p.FailDuration, parse.Duration),
		"dial_timeout":            parse.Once(&p.DialTimeout, parse.Duration),
		"response_header_timeout": parse.Once(&p.HeaderTimeout, parse.Duration),
		"read_timeout":            parse.Once(&p.ReadTimeout, parse.Duration),
		"write_timeout":           parse.Once(&p.WriteTimeout, parse.Duration),
		"keepalive":               parse.Once(&p.KeepAlive, parse.Duration),
		"max_idle":                parse.Once(&p.MaxIdle, parse.Number),
		"max_header":              parse.Once(&p.MaxHeader, size),
		"tls_server_name":         parse.Once(&p.ServerName, parse.Argument("a host name")),
		"tls_trust":               parse.List(&p.TrustFiles, "files with certificates in PEM form"),
		"tls_trust_pool":          parse.Once(&p.TrustPool, readTrustPool),
	}.ReadBlock(h.Dispenser, "api_proxy, which has the settings that most APIs need; reverse_proxy has the others")
	if err != nil {
		return nil, err
	}
	if p.TrustFiles != nil && p.TrustPool != nil {
		return nil, parse.ErrorAt(head, errors.New("api_proxy: expected either tls_trust or tls_trust_pool, which both say whom to trust"))
	}
	if len(p.Upstreams) == 0 {
		return nil, parse.ErrorAt(head, errors.New("api_proxy: expected addresses such as `api_proxy 10.0.1.20:8080`"))
	}
	if err := p.CheckUpstreams(); err != nil {
		return nil, parse.ErrorAt(head, err)
	}
	return p, nil
}

// readTrustPool reads one of Caddy's modules for trusted certificates.
func readTrustPool(d *caddyfile.Dispenser) (json.RawMessage, error) {
	const namespace = "tls.ca_pool.source"
	var names []string
	for _, m := range caddy.GetModules(namespace) {
		names = append(names, m.ID.Name())
	}
	word := d.Val()
	if !d.NextArg() || !slices.Contains(names, d.Val()) {
		return nil, d.Errf("%s: expected one of Caddy's trust pools (%s), such as `%s file /etc/ssl/ca.pem`", word, strings.Join(names, ", "), word)
	}
	name := d.Val()
	module, err := caddyfile.UnmarshalModule(d, namespace+"."+name)
	if err != nil {
		return nil, err
	}
	return caddyconfig.JSONModuleObject(module, "provider", name, nil), nil
}
