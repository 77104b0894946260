package explain

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"maps"
	"net"
	"slices"
	"strconv"
	"strings"

	"github.com/caddyserver/caddy/v2"
	"github.com/caddyserver/caddy/v2/modules/caddytls"

	"github.com/gatehouse/gatehouse/module/gateway"
	"github.com/gatehouse/gatehouse/module/gateway/restapi"
	"github.com/gatehouse/gatehouse/module/internal/routes"
)

// Configuration is what explain reads of a configuration of Caddy.
type Configuration struct {
	App      *gateway.App // nil if there is no global option gatehouse
	Servers  map[string]Server
	Logs     map[string]*caddy.CustomLog
	handlers restapi.Handlers
}

// Server is an HTTP server of Caddy.
type Server struct {
	Listen      []string                `json:"listen"`
	Routes      []routes.Route          `json:"routes"`
	NamedRoutes map[string]routes.Route `json:"named_routes"`
	Errors      ErrorRoutes             `json:"errors"`
	AutoHTTPS   *struct {
		Disable          bool     `json:"disable"`
		DisableRedirects bool     `json:"disable_redirects"`
		Skip             []string `json:"skip"`
	} `json:"automatic_https"`
	ConnectionPolicies   caddytls.ConnectionPolicies `json:"tls_connection_policies"`
	TrustedProxies       json.RawMessage             `json:"trusted_proxies"`
	TrustedProxiesStrict int                         `json:"trusted_proxies_strict"`
	TrustedProxiesUnix   bool                        `json:"trusted_proxies_unix"`
	ListenerWrappers     []ListenerWrapper           `json:"listener_wrappers"`
	ClientIPHeaders      []string                    `json:"client_ip_headers"`
	WriteTimeout         caddy.Duration              `json:"write_timeout"`
	Logs                 *struct {
		Credentials bool `json:"should_log_credentials"`
	} `json:"logs"`
	httpPort  uint // the one on which Caddy speaks no TLS
	httpsPort uint
}

// ListenerWrapper is a module that wraps the listeners of a server.
type ListenerWrapper struct {
	Module string `json:"wrapper"`
}

// ErrorRoutes are the routes of `handle_errors`.
type ErrorRoutes struct {
	Routes []routes.Route `json:"routes"`
}

// ErrNoApp says that there is nothing to explain.
var ErrNoApp = errors.New("the configuration has no global option `gatehouse { issuer ... }`")

// ReadConfiguration reads a configuration with a global option gatehouse.
func ReadConfiguration(text []byte) (*Configuration, error) {
	c, err := ReadAny(text)
	if err == nil && c.App == nil {
		return nil, ErrNoApp
	}
	return c, err
}

// ReadAny reads a configuration that may have no global option gatehouse.
func ReadAny(text []byte) (*Configuration, error) {
	var c struct {
		Logging caddy.Logging `json:"logging"`
		Apps    struct {
			HTTP struct {
				HTTPPort  int               `json:"http_port"`
				HTTPSPort int               `json:"https_port"`
				Servers   map[string]Server `json:"servers"`
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
	return &Configuration{c.Apps.Gatehouse, c.Apps.HTTP.Servers, c.Logging.Logs, make(restapi.Handlers)}, nil
}

// ListensFor reports whether the server listens on the port of a question.
func (s Server) ListensFor(q Question) bool {
	n := uint64(map[string]uint{"http": s.httpPort, "https": s.httpsPort}[q.Scheme])
	if _, p, err := net.SplitHostPort(q.Host); err == nil {
		if n, err = strconv.ParseUint(p, 10, 16); err != nil {
			return false
		}
	}
	return s.listens(uint(n))
}

func (s Server) listens(port uint) bool {
	return slices.ContainsFunc(s.Listen, func(l string) bool {
		at, err := caddy.ParseNetworkAddress(l)
		return err == nil && !at.IsUnixNetwork() && port >= at.StartPort && port <= at.EndPort
	})
}

// ListensOn reports whether Caddy listens on a port for the server, also to redirect plain http to it.
func (s Server) ListensOn(port uint) bool {
	return s.listens(port) || port == s.httpPort && s.Redirects() && !s.Plain()
}

// Hosts returns the hosts to ask for: the one of the question, or all that the routes name.
func (s Server) Hosts(q Question) []string {
	if q.Host != "" {
		return []string{q.Host}
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

// All iterates over the handlers of a name, however deeply they are nested.
func (s Server) All(name string) iter.Seq[json.RawMessage] {
	return func(yield func(json.RawMessage) bool) {
		all := slices.Clone(s.Routes)
		for _, named := range SortedKeys(s.NamedRoutes) {
			all = append(all, s.NamedRoutes[named])
		}
		for _, rt := range all {
			for raw, h := range rt.Handlers() {
				if h.Handler == name && !yield(raw) {
					return
				}
			}
		}
	}
}

// Has reports whether the server has a handler of a name.
func (s Server) Has(name string) bool {
	for range s.All(name) {
		return true
	}
	return false
}

// Plain reports whether the server speaks http without TLS: on the port for that, or because
// automatic HTTPS is off or skips its hosts, as it does for http:// addresses of a Caddyfile.
func (s Server) Plain() bool {
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
	hosts := s.Hosts(Question{})
	return s.AutoHTTPS != nil && len(hosts) > 0 && !slices.ContainsFunc(hosts, func(h string) bool { return !slices.Contains(s.AutoHTTPS.Skip, h) })
}

// Redirects reports whether Caddy redirects http to https for the server.
func (s Server) Redirects() bool {
	return s.AutoHTTPS == nil || !s.AutoHTTPS.DisableRedirects && !s.AutoHTTPS.Disable
}

// AlsoTLS reports whether another server has oauth_server for the same hosts with TLS.
func (s Server) AlsoTLS(all map[string]Server) bool {
	for _, other := range all {
		if !other.Plain() && other.Has("gatehouse_server") && slices.ContainsFunc(other.Hosts(Question{}), func(h string) bool { return slices.Contains(s.Hosts(Question{}), h) }) {
			return true
		}
	}
	return false
}

// SortedKeys returns the keys of a map in order.
func SortedKeys[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }
