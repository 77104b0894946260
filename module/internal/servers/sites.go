package servers

import (
	"fmt"
	"slices"
	"strings"

	"github.com/caddyserver/caddy/v2"
	"github.com/caddyserver/caddy/v2/modules/caddyhttp"
)

// issuerSite is a site that has oauth_server: a part of a server, with the hosts that route
// to it.
type issuerSite struct {
	server  *caddyhttp.Server
	route   int      // index of the server's route, the first of several
	hosts   []string // nil: any
	sources []string // where its handlers are written, as far as known
}

// AddIssuer adds the sites of a server for which an oauth_server is provisioned, and refuses a
// second site: there is one issuer, and clients would find its metadata at an address that is not
// the issuer's. Handlers that matchers restrict, say to some paths, are part of a site on purpose.
// It reports whether there is a site with one.
func (s *Servers) AddIssuer(ctx caddy.Context) (known bool, err error) {
	server := Of(ctx)
	if server == nil || slices.ContainsFunc(s.issuerSites, func(i *issuerSite) bool { return i.server == server }) {
		return len(s.issuerSites) > 0, nil
	}
	for _, i := range s.routesOf(server).Issuers {
		found := &issuerSite{server: server, route: i.Route, hosts: i.Hosts}
		if i.Source != "" {
			found.sources = []string{i.Source}
		}
		if at := slices.IndexFunc(s.issuerSites, func(o *issuerSite) bool { return o.holds(found) }); at >= 0 {
			s.issuerSites[at].sources = append(s.issuerSites[at].sources, found.sources...)
			continue
		}
		s.issuerSites = append(s.issuerSites, found)
	}
	for i, site := range s.issuerSites {
		for _, other := range s.issuerSites[:i] {
			if !site.same(other) {
				both := []string{site.String(), other.String()} // Caddy has its servers in no order
				slices.Sort(both)
				return false, fmt.Errorf("oauth_server: two sites have it, %s and %s, and there is one issuer; expected one site, with all its addresses in front of one block, as in `id.example.com, http://id.example.com {`; in JSON, handlers of one site have the same \"source\"", both[0], both[1])
			}
		}
	}
	return len(s.issuerSites) > 0, nil
}

// CheckLimitOrder refuses a limit by caller whose guard comes behind it in the same list of
// routes: it would limit nobody, silently. It looks at the whole server, since a handler
// that is provisioned does not know where it is.
func (s *Servers) CheckLimitOrder(ctx caddy.Context) error {
	server := Of(ctx)
	if server == nil {
		return nil
	}
	found := s.routesOf(server).Misplaced
	if len(found) == 0 {
		return nil
	}
	where := found[0].Source
	if where == "" {
		where = describe(server)
	}
	return fmt.Errorf("api_limit (%s): the policy %s counts whom oauth_guard identifies, and would count nobody: oauth_guard stands behind it; put oauth_guard in front of api_limit", where, found[0].Policy)
}

func describe(server *caddyhttp.Server) string {
	return fmt.Sprintf("server %s on %s", server.Name(), strings.Join(server.Listen, " "))
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
		return false // otherwise it would hold the other
	case len(s.sources) == 0 && len(o.sources) == 0:
		return s.hosts != nil && slices.Equal(s.hosts, o.hosts)
	}
	return slices.ContainsFunc(s.sources, func(at string) bool { return slices.Contains(o.sources, at) })
}

func (s *issuerSite) String() string {
	where := describe(s.server)
	if s.hosts != nil {
		where += " for " + strings.Join(s.hosts, " ")
	}
	if len(s.sources) > 0 {
		return s.sources[0] + " (" + where + ")"
	}
	return fmt.Sprintf("route %d of %s", s.route, where)
}
