package gateway

import (
	"fmt"
	"slices"
	"strings"

	"github.com/caddyserver/caddy/v2"
	"github.com/caddyserver/caddy/v2/modules/caddyhttp"

	"github.com/gatehouse/gatehouse/module/internal/routes"
)

// layout is what was found in the routes of the configuration's servers.
type layout struct {
	sites []*issuerSite // that have oauth_server
	found map[*caddyhttp.Server]routes.Found
	// apiServers are those that have an api_rest, with what tells each from the others.
	apiServers map[*caddyhttp.Server]string
}

// issuerSite is a site that has oauth_server: a part of a server, with the hosts that lead
// to it.
type issuerSite struct {
	server  *caddyhttp.Server
	route   int      // index of the server's route, the first of several
	hosts   []string // nil: any
	sources []string // where its handlers are written, as far as known
}

// checkOneSite refuses a second site with oauth_server: there is one issuer, and clients
// would find its metadata at an address that is not the issuer's. It looks at each server
// of the configuration once, when the first oauth_server there is provisioned. Handlers
// that matchers restrict, say to some paths, are part of a site on purpose.
func (l *layout) checkOneSite(ctx caddy.Context) error {
	server, ok := ctx.Value(caddyhttp.ServerCtxKey).(*caddyhttp.Server)
	if !ok || slices.ContainsFunc(l.sites, func(s *issuerSite) bool { return s.server == server }) {
		return nil
	}
	for _, i := range l.follow(server).Issuers {
		found := &issuerSite{server: server, route: i.Route, hosts: i.Hosts}
		if i.Source != "" {
			found.sources = []string{i.Source}
		}
		if at := slices.IndexFunc(l.sites, func(s *issuerSite) bool { return s.holds(found) }); at >= 0 {
			l.sites[at].sources = append(l.sites[at].sources, found.sources...)
			continue
		}
		l.sites = append(l.sites, found)
	}
	for i, s := range l.sites {
		for _, other := range l.sites[:i] {
			if !s.same(other) {
				both := []string{s.String(), other.String()} // Caddy has its servers in no order
				slices.Sort(both)
				return fmt.Errorf("oauth_server: two sites have it, %s and %s, and there is one issuer; expected one site, with all its addresses in front of one block, as in `id.example.com, http://id.example.com {`; in JSON, handlers of one site have the same \"source\"", both[0], both[1])
			}
		}
	}
	return nil
}

// holds reports whether a handler of the same server belongs to this site.
func (s *issuerSite) holds(o *issuerSite) bool {
	if s.server != o.server {
		return false
	}
	return slices.Equal(s.hosts, o.hosts) || s.route == o.route && (s.hosts == nil || o.hosts == nil ||
		slices.ContainsFunc(s.hosts, func(h string) bool { return slices.Contains(o.hosts, h) }))
}

// same reports whether sites are one with several addresses. Caddy makes two servers of
// these, with handlers that are written in the same place. Where that is not known, the
// hosts tell.
func (s *issuerSite) same(o *issuerSite) bool {
	switch {
	case s.server == o.server:
		return false // or it would hold the other
	case len(s.sources) == 0 && len(o.sources) == 0:
		return s.hosts != nil && slices.Equal(s.hosts, o.hosts)
	}
	return slices.ContainsFunc(s.sources, func(at string) bool { return slices.Contains(o.sources, at) })
}

func (s *issuerSite) String() string {
	where := fmt.Sprintf("server %s on %s", s.server.Name(), strings.Join(s.server.Listen, " "))
	if s.hosts != nil {
		where += " for " + strings.Join(s.hosts, " ")
	}
	if len(s.sources) > 0 {
		return s.sources[0] + " (" + where + ")"
	}
	return fmt.Sprintf("route %d of %s", s.route, where)
}

// follow goes through the routes of a server that is being provisioned, once for all its
// handlers that ask.
func (l *layout) follow(server *caddyhttp.Server) routes.Found {
	found, ok := l.found[server]
	if !ok {
		if l.found == nil {
			l.found = make(map[*caddyhttp.Server]routes.Found)
		}
		found = followRoutes(server)
		l.found[server] = found
	}
	return found
}

func followRoutes(server *caddyhttp.Server) routes.Found {
	named := make(map[string]routes.Route, len(server.NamedRoutes))
	for name, rt := range server.NamedRoutes {
		named[name] = routes.FromLoaded(caddyhttp.RouteList{*rt})[0]
	}
	return routes.Follow(routes.FromLoaded(server.Routes), named, nil)
}
