package cli

import (
	"bytes"
	"encoding/json"
	"net"
	"slices"
	"strconv"

	"github.com/caddyserver/caddy/v2"

	"github.com/gatehouse/gatehouse/module/internal/cli/explain"
	"github.com/gatehouse/gatehouse/module/internal/routes"
)

// restSite is one server's api_rest handlers for a host, "" for any.
type restSite struct {
	host     string
	ports    []string
	handlers []json.RawMessage
}

// restSites are the sites that have api_rest.
func restSites(c *explain.Configuration) (sites []restSite) {
	for _, name := range explain.SortedKeys(c.Servers) {
		s := c.Servers[name]
		first := len(sites)
		for _, rt := range s.Routes {
			one := explain.Server{Routes: []routes.Route{rt}, NamedRoutes: s.NamedRoutes}
			for raw := range one.All("gatehouse_rest") {
				for _, host := range one.Hosts(explain.Question{}) {
					at := slices.IndexFunc(sites[first:], func(o restSite) bool { return o.host == host })
					if at < 0 {
						at = len(sites) - first
						sites = append(sites, restSite{host: host, ports: ports(s)})
					}
					sites[first+at].handlers = append(sites[first+at].handlers, raw)
				}
			}
		}
	}
	return sites
}

// ports returns those that a server listens on.
func ports(s explain.Server) (ports []string) {
	for _, l := range s.Listen {
		if at, err := caddy.ParseNetworkAddress(l); err == nil && !at.IsUnixNetwork() {
			ports = append(ports, strconv.Itoa(int(at.StartPort)))
		}
	}
	return ports
}

// chosen returns the api_rest handlers of the sites that a host selects, with or without a port, or of all
// sites for "", and the names of these sites. Sites of several servers with the same handlers are one, as
// those of an address with http and https.
func chosen(sites []restSite, site string) (found []json.RawMessage, names []string) {
	host, port, err := net.SplitHostPort(site)
	if err != nil {
		host, port = site, ""
	}
	for _, s := range sites {
		if site != "" && s.host != host || port != "" && !slices.Contains(s.ports, port) {
			continue
		}
		if name := s.name(sites); !slices.Contains(names, name) {
			names = append(names, name)
		}
		for _, raw := range s.handlers {
			if !slices.ContainsFunc(found, func(other json.RawMessage) bool { return bytes.Equal(other, raw) }) {
				found = append(found, raw)
			}
		}
	}
	slices.Sort(names)
	return found, names
}

// name is the host, with the port where servers have different handlers for it.
func (s restSite) name(sites []restSite) string {
	for _, other := range sites {
		if other.host == s.host && len(s.ports) > 0 && !slices.EqualFunc(other.handlers, s.handlers, func(a, b json.RawMessage) bool { return bytes.Equal(a, b) }) {
			return s.host + ":" + s.ports[0]
		}
	}
	return s.host
}
