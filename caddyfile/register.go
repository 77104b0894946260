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
	register("gatehouse_health", parseHealth)
	httpcaddyfile.RegisterDirectiveOrder("gatehouse_health", httpcaddyfile.Before, "push")
	registerHandler("api_errors", apierrors.Parse)
	register("oauth_server", parseServer)
	registerHandler("oauth_authentication", parseAuthentication)
	registerHandler("oauth_guard", parseGuard)
	registerHandler("api_limit", parseLimit)
	registerHandler("api_rest", apirest.Parse)
	registerHandler("api_proxy", parseProxy)
	httpcaddyfile.RegisterDirectiveOrder("api_proxy", httpcaddyfile.Before, "reverse_proxy")
	for _, name := range []string{"api_errors", "oauth_server", "oauth_authentication", "oauth_guard", "api_limit", "api_rest"} {
		httpcaddyfile.RegisterDirectiveOrder(name, httpcaddyfile.Before, "push")
	}
}
