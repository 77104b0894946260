package restapi

import (
	"encoding/json"

	"github.com/caddyserver/caddy/v2/modules/caddyhttp"

	"github.com/gatehouse/gatehouse/module/gateway/revealing"
	"github.com/gatehouse/gatehouse/module/internal/rest/conceal"
)

// concealInRoutes puts the transport of package revealing into all proxies of routes that are not
// yet loaded. It reports false, and leaves the routes as they are, where a handler or a matcher might
// read what is concealed.
func concealInRoutes(routes caddyhttp.RouteList) (caddyhttp.RouteList, bool) {
	text, err := json.Marshal(routes)
	if err != nil {
		return routes, false
	}
	changed, ok := conceal.WrapTransports(text, revealing.Name)
	var own caddyhttp.RouteList
	if !ok || json.Unmarshal(changed, &own) != nil {
		return routes, false
	}
	return own, true
}
