package gateway

import (
	"regexp"
	"strings"

	"github.com/caddyserver/caddy/v2"
	"github.com/caddyserver/caddy/v2/modules/caddyhttp"
)

// generatedName is the name of a server that the Caddyfile gives no name. It changes when
// another site is added.
var generatedName = regexp.MustCompile(`^srv[0-9]+$`)

// APIServer notes the server that an api_rest is provisioned for. The function that it returns
// is for requests: it returns what tells the server from the others of the configuration that
// have an api_rest, and "" while there is only one. Sites on several ports share the store, and
// requests do not say reliably at which port they arrived. The text is the server's own name,
// or else the addresses that it listens on: these stay when the configuration is reloaded. The
// nodes of a cluster may listen on different ports, hence "" for a single server.
func (a *App) APIServer(ctx caddy.Context) func() string {
	server, ok := ctx.Value(caddyhttp.ServerCtxKey).(*caddyhttp.Server)
	if !ok {
		return func() string { return "" }
	}
	if a.layout.apiServers == nil {
		a.layout.apiServers = make(map[*caddyhttp.Server]string)
	}
	name := server.Name()
	if generatedName.MatchString(name) {
		name = strings.Join(server.Listen, " ")
	}
	a.layout.apiServers[server] = name
	return func() string {
		if len(a.layout.apiServers) < 2 {
			return ""
		}
		return name
	}
}
