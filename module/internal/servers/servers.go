// Package servers knows the HTTP servers of a configuration: which of them have Gatehouse's handlers
// and in what order, whether clients can forge their address there, who else listens on their
// ports, and when their connections may be closed. It does not know what the handlers do.
package servers

import (
	"log/slog"
	"regexp"
	"strings"

	"github.com/caddyserver/caddy/v2"
	"github.com/caddyserver/caddy/v2/modules/caddyhttp"

	"github.com/gatehouse/gatehouse/module/internal/routes"
)

// Servers are the servers of one configuration that have a handler of Gatehouse. Handlers add to
// them while they are provisioned, one after the other; then they are only read.
type Servers struct {
	log         *slog.Logger
	endPolls    func()
	known       map[*caddyhttp.Server]*server
	apis        int // servers that have an api_rest
	issuerSites []*issuerSite
	connections connections
}

// server is what is known of one server.
type server struct {
	routes         *routes.Found // nil: not looked at yet
	addressChecked bool
	withoutAddress bool // it was looked for listeners at which no request has an address
	api            bool // it has an api_rest
}

// New returns an empty set. endPolls ends the polls that wait for a confirmation.
func New(log *slog.Logger, endPolls func()) *Servers {
	return &Servers{log: log, endPolls: endPolls, known: make(map[*caddyhttp.Server]*server)}
}

// Of is the server that a handler is provisioned for, nil where there is none.
func Of(ctx caddy.Context) *caddyhttp.Server {
	s, _ := ctx.Value(caddyhttp.ServerCtxKey).(*caddyhttp.Server)
	return s
}

// Add adds the server that a handler is provisioned for. Connections of all servers drain when
// the process ends.
func (s *Servers) Add(ctx caddy.Context) error {
	to := Of(ctx)
	if to == nil || s.known[to] != nil {
		return nil
	}
	if len(s.known) == 0 {
		if err := s.drainOnExit(ctx); err != nil {
			return err
		}
	}
	s.known[to] = new(server)
	to.RegisterConnState(s.connections.changed)
	return nil
}

// routesOf follows the routes of a server that is being provisioned, once for all handlers.
func (s *Servers) routesOf(to *caddyhttp.Server) routes.Found {
	known := s.known[to]
	if known.routes == nil {
		named := make(map[string]routes.Route, len(to.NamedRoutes))
		for name, rt := range to.NamedRoutes {
			named[name] = routes.FromLoaded(caddyhttp.RouteList{*rt})[0]
		}
		found := routes.Follow(routes.FromLoaded(to.Routes), named, nil)
		known.routes = &found
	}
	return *known.routes
}

// generatedName is the name of a server that the Caddyfile gives no name. It changes when
// another site is added.
var generatedName = regexp.MustCompile(`^srv[0-9]+$`)

// AddAPI notes that the server has an api_rest, which is being provisioned. The function that it
// returns is for requests: it tells the server from others that have an api_rest, and returns ""
// while there is only one. Sites on several ports share the store, and requests do not say
// reliably at which port they arrived. The text is the server's own name, or else its listener
// addresses, which stay when the configuration is reloaded. The nodes of a cluster may listen on
// different ports, hence "" for a single server.
func (s *Servers) AddAPI(ctx caddy.Context) (name func() string) {
	to := Of(ctx)
	if to == nil {
		return func() string { return "" }
	}
	if known := s.known[to]; !known.api {
		known.api = true
		s.apis++
	}
	own := to.Name()
	if generatedName.MatchString(own) {
		own = strings.Join(to.Listen, " ")
	}
	return func() string {
		if s.apis < 2 {
			return ""
		}
		return own
	}
}
