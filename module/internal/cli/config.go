package cli

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net"
	"slices"
	"strconv"
	"strings"

	"github.com/caddyserver/caddy/v2"

	"github.com/gatehouse/gatehouse/module/gateway"
	"github.com/gatehouse/gatehouse/module/gateway/restapi"
	"github.com/gatehouse/gatehouse/module/internal/routes"
)

// configuration is what is read of a configuration of Caddy.
type configuration struct {
	app     *gateway.App
	servers map[string]server
	tables  restapi.Tables
}

type server struct {
	Listen      []string         `json:"listen"`
	Routes      []route          `json:"routes"`
	NamedRoutes map[string]route `json:"named_routes"`
	AutoHTTPS   *struct {
		Disable          bool     `json:"disable"`
		DisableRedirects bool     `json:"disable_redirects"`
		Skip             []string `json:"skip"`
	} `json:"automatic_https"`
	TrustedProxies       json.RawMessage `json:"trusted_proxies"`
	TrustedProxiesStrict int             `json:"trusted_proxies_strict"`
	TrustedProxiesUnix   bool            `json:"trusted_proxies_unix"`
	ClientIPHeaders      []string        `json:"client_ip_headers"`
	WriteTimeout         caddy.Duration  `json:"write_timeout"`
	Logs                 *struct {
		Credentials bool `json:"should_log_credentials"`
	} `json:"logs"`
	httpPort  uint // the one on which Caddy speaks no TLS
	httpsPort uint
}

type (
	route   = routes.Route
	handler = routes.Handler
)

// errNoApp: there is nothing to explain.
var errNoApp = errors.New("the configuration has no global option `gatehouse { issuer ... }`")

func readConfiguration(text []byte) (*configuration, error) {
	c, err := readAny(text)
	if err == nil && c.app == nil {
		return nil, errNoApp
	}
	return c, err
}

// readAny reads a configuration that may have no global option of ours; its app is nil then.
func readAny(text []byte) (*configuration, error) {
	var c struct {
		Apps struct {
			HTTP struct {
				HTTPPort  int               `json:"http_port"`
				HTTPSPort int               `json:"https_port"`
				Servers   map[string]server `json:"servers"`
			} `json:"http"`
			Gatehouse *gateway.App `json:"gatehouse"`
		} `json:"apps"`
	}
	if err := json.Unmarshal(text, &c); err != nil {
		return nil, fmt.Errorf("reading the configuration: %w", err)
	}
	for name, s := range c.Apps.HTTP.Servers {
		s.httpPort = uint(cmp.Or(max(0, c.Apps.HTTP.HTTPPort), 80))    //nolint:gosec // not negative
		s.httpsPort = uint(cmp.Or(max(0, c.Apps.HTTP.HTTPSPort), 443)) //nolint:gosec // not negative
		c.Apps.HTTP.Servers[name] = s
	}
	return &configuration{c.Apps.Gatehouse, c.Apps.HTTP.Servers, make(restapi.Tables)}, nil
}

func (s server) listensFor(q question) bool {
	n := uint64(map[string]uint{"http": s.httpPort, "https": s.httpsPort}[q.scheme])
	if _, p, err := net.SplitHostPort(q.host); err == nil {
		if n, err = strconv.ParseUint(p, 10, 16); err != nil {
			return false
		}
	}
	return slices.ContainsFunc(s.Listen, func(l string) bool {
		at, err := caddy.ParseNetworkAddress(l)
		return err == nil && !at.IsUnixNetwork() && uint(n) >= at.StartPort && uint(n) <= at.EndPort
	})
}

// hosts are those to ask for: the one of the address, or all that the routes name.
func (s server) hosts(q question) []string {
	if q.host != "" {
		return []string{q.host}
	}
	var all []string
	for _, rt := range s.Routes {
		for _, set := range rt.Match {
			var named []string
			if json.Unmarshal(set["host"], &named) == nil {
				for _, h := range named {
					all = append(all, strings.ReplaceAll(h, "*", "any"))
				}
			}
		}
	}
	slices.Sort(all)
	if all = slices.Compact(all); len(all) == 0 {
		all = []string{""}
	}
	return all
}

// all are the handlers of a name, wherever they stand.
func (s server) all(name string) func(func(json.RawMessage) bool) {
	return func(yield func(json.RawMessage) bool) {
		more := true
		visit := func(raw json.RawMessage, h handler) bool {
			if h.Handler == name && more {
				more = yield(raw)
			}
			return !more
		}
		for _, rt := range s.Routes {
			rt.Visit(visit)
		}
		for _, named := range sortedKeys(s.NamedRoutes) {
			s.NamedRoutes[named].Visit(visit)
		}
	}
}

func (s server) has(name string) bool {
	for range s.all(name) {
		return true
	}
	return false
}

// plain reports whether a server speaks http without TLS: on the port for that, or where automatic
// HTTPS is off or skips its hosts. (A Caddyfile has the latter for addresses of http://.)
func (s server) plain() bool {
	if s.AutoHTTPS != nil && s.AutoHTTPS.Disable {
		return true
	}
	http := len(s.Listen) > 0
	for _, l := range s.Listen {
		at, err := caddy.ParseNetworkAddress(l)
		http = http && err == nil && at.StartPort == s.httpPort
	}
	if http {
		return true
	}
	hosts := s.hosts(question{})
	return s.AutoHTTPS != nil && len(hosts) > 0 && !slices.ContainsFunc(hosts, func(h string) bool { return !slices.Contains(s.AutoHTTPS.Skip, h) })
}

func (s server) redirects() bool {
	return s.AutoHTTPS == nil || !s.AutoHTTPS.DisableRedirects && !s.AutoHTTPS.Disable
}

// alsoTLS reports whether another server has oauth_server for the same hosts with TLS.
func (s server) alsoTLS(all map[string]server) bool {
	for _, other := range all {
		if !other.plain() && other.has("oauth_server") && slices.ContainsFunc(other.hosts(question{}), func(h string) bool { return slices.Contains(s.hosts(question{}), h) }) {
			return true
		}
	}
	return false
}

func sortedKeys[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }
