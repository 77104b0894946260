package caddyfile

import (
	"github.com/caddyserver/caddy/v2/caddyconfig/httpcaddyfile"

	"github.com/gatehouse/gatehouse/module/gateway"
)

// parseHealth parses gatehouse_health. Its arguments are the paths it answers, not a
// matcher: in a `handle` with one it is for those whom that matches.
//
//	gatehouse_health [<ready path> [<live path>]]
func parseHealth(h httpcaddyfile.Helper) ([]httpcaddyfile.ConfigValue, error) {
	h.Next()
	health := new(gateway.Health)
	for _, path := range []*string{&health.Ready, &health.Live} {
		if !h.NextArg() {
			break
		}
		*path = h.Val()
	}
	if h.NextArg() {
		return nil, h.Errf("gatehouse_health: unexpected argument '%s', expected at most two paths", h.Val())
	}
	given := *health
	if err := health.Check(); err != nil {
		return nil, h.Errf("gatehouse_health: %v", err)
	}
	if h.NextBlock(0) {
		return nil, h.Errf("gatehouse_health: unrecognized word '%s', expected no block", h.Val())
	}
	if globalApp(h) == nil {
		return nil, h.Err("gatehouse_health: expected a global option `gatehouse { issuer ... }` at the top of the Caddyfile")
	}
	return h.NewRoute(nil, &given), nil
}
