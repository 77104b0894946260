package caddyfile

import (
	"encoding/json"

	"github.com/caddyserver/caddy/v2/caddyconfig/httpcaddyfile"

	"github.com/gatehouse/gatehouse/caddyfile/internal/parse"
	"github.com/gatehouse/gatehouse/module/gateway"
)

// parseServer parses oauth_server, which has no settings.
//
//	oauth_server [<matcher>]
func parseServer(h httpcaddyfile.Helper) ([]httpcaddyfile.ConfigValue, error) {
	h.Next()
	matcher, err := h.ExtractMatcherSet()
	if err != nil {
		return nil, err
	}
	h.Next()
	source := parse.Position(h.Dispenser)
	if matcher == nil {
		if err := checkOneSite(h, source); err != nil {
			return nil, err
		}
	}
	if h.NextArg() {
		return nil, h.Errf("oauth_server: unexpected argument '%s', expected none: its settings are in the global option gatehouse", h.Val())
	}
	if h.NextBlock(0) {
		return nil, h.Errf("oauth_server: unrecognized word '%s', expected no block: its settings are in the global option gatehouse", h.Val())
	}
	if globalApp(h) == nil {
		return nil, h.Err("oauth_server: expected a global option `gatehouse { issuer ... }` at the top of the Caddyfile")
	}
	return h.NewRoute(matcher, &gateway.Server{Source: source}), nil
}

// checkOneSite refuses a second site with oauth_server: there is one issuer, and clients would
// find its metadata at an address that is not the issuer's. An oauth_server with a matcher is
// part of a site on purpose, and does not count. The site of one within `handle` or `route` is
// not known here; provisioning checks it.
func checkOneSite(h httpcaddyfile.Helper, here string) error {
	const key = "gatehouse.oauth_server"
	first, found := h.State[key].(string)
	if h.IsNamedRoute() {
		return nil
	}
	if h.State[key] = here; h.BlockState[key] != here { // a copy: it stands in a block of its own
		h.State[key] = first
		return nil
	}
	if found && first != "" {
		return h.Errf("oauth_server: another site has it already (%s), and there is one issuer; expected one site, with all its addresses in front of one block, as in `id.example.com, http://id.example.com {`", first)
	}
	return nil
}

// globalApp returns the global option gatehouse, nil if there is none. It is decoded once for all
// directives, and must not be changed.
func globalApp(h httpcaddyfile.Helper) *gateway.App {
	const key = "gatehouse.app"
	if app, ok := h.State[key].(*gateway.App); ok {
		return app
	}
	option, ok := h.Option("gatehouse").(httpcaddyfile.App)
	if !ok {
		return nil
	}
	app := new(gateway.App)
	if err := json.Unmarshal(option.Value, app); err != nil {
		return nil
	}
	h.State[key] = app
	return app
}
