package caddyfile

import (
	"github.com/caddyserver/caddy/v2/caddyconfig/httpcaddyfile"

	"github.com/gatehouse/gatehouse/caddyfile/internal/apierrors"
	"github.com/gatehouse/gatehouse/caddyfile/internal/apirest"
)

func init() {
	httpcaddyfile.RegisterGlobalOption("gatehouse", parseGatehouse)
	// In the order in which a request passes them. Each is placed before the first
	// standard directive behind encode, where the registration order is kept.
	// gatehouse_health answers itself, and in front of oauth_server.
	httpcaddyfile.RegisterDirective("gatehouse_health", parseHealth)
	httpcaddyfile.RegisterDirectiveOrder("gatehouse_health", httpcaddyfile.Before, "push")
	httpcaddyfile.RegisterHandlerDirective("api_errors", apierrors.Parse)
	httpcaddyfile.RegisterDirective("oauth_server", parseServer)
	httpcaddyfile.RegisterHandlerDirective("oauth_authentication", parseAuthentication)
	httpcaddyfile.RegisterHandlerDirective("oauth_guard", parseGuard)
	httpcaddyfile.RegisterHandlerDirective("api_limit", parseLimit)
	httpcaddyfile.RegisterHandlerDirective("api_rest", apirest.Parse)
	httpcaddyfile.RegisterHandlerDirective("api_proxy", parseProxy)
	httpcaddyfile.RegisterDirectiveOrder("api_proxy", httpcaddyfile.Before, "reverse_proxy")
	sorted := []string{"api_errors", "oauth_server", "oauth_authentication", "oauth_guard", "api_limit", "api_rest"}
	for _, name := range sorted {
		httpcaddyfile.RegisterDirectiveOrder(name, httpcaddyfile.Before, "push")
	}
	keepInNamedRoutes(append(sorted, "gatehouse_health", "api_proxy")...)
	keepInNamedRoutes(holders...)
}
