package caddyfile

import (
	"github.com/caddyserver/caddy/v2/caddyconfig/httpcaddyfile"
)

func init() {
	httpcaddyfile.RegisterGlobalOption("gatehouse", parseGatehouse)
	// In the order in which a request passes them. Each is placed before the first
	// standard directive behind encode, where the registration order is kept.
	// gatehouse_health answers itself, and in front of oauth_server, to which every path
	// below the issuer belongs.
	httpcaddyfile.RegisterDirective("gatehouse_health", parseHealth)
	httpcaddyfile.RegisterDirectiveOrder("gatehouse_health", httpcaddyfile.Before, "push")
	for _, d := range []struct {
		name  string
		parse httpcaddyfile.UnmarshalHandlerFunc
	}{
		{"api_errors", parseErrors},
		{"oauth_server", parseServer},
		{"oauth_guard", parseGuard},
		{"api_limit", parseLimit},
		{"api_rest", parseREST},
	} {
		httpcaddyfile.RegisterHandlerDirective(d.name, d.parse)
		httpcaddyfile.RegisterDirectiveOrder(d.name, httpcaddyfile.Before, "push")
	}
}
