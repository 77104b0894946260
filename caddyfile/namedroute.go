package caddyfile

import (
	"reflect"

	"github.com/caddyserver/caddy/v2"
	"github.com/caddyserver/caddy/v2/caddyconfig"
	"github.com/caddyserver/caddy/v2/caddyconfig/httpcaddyfile"
	"github.com/caddyserver/caddy/v2/modules/caddyhttp"
)

// registerHandler is httpcaddyfile.RegisterHandlerDirective for named routes too, as in
// &(guarded) { ... }. Caddy joins handlers without a matcher into one route, and if a named
// route then consists of only that, Caddy keeps the first handler and drops the others:
// api_errors would remain and the guard behind it be gone. A route with a matcher is kept
// whole, so directly or deeper in a named route the handlers get one that matches everything.
func registerHandler(directive string, parse httpcaddyfile.UnmarshalHandlerFunc) {
	httpcaddyfile.RegisterDirective(directive, func(h httpcaddyfile.Helper) ([]httpcaddyfile.ConfigValue, error) {
		if !h.Next() {
			return nil, h.ArgErr()
		}
		matcher, err := h.ExtractMatcherSet()
		if err != nil {
			return nil, err
		}
		handler, err := parse(h)
		if err != nil {
			return nil, err
		}
		if matcher == nil && inNamedRoute(h) {
			matcher = caddy.ModuleMap{"path": caddyconfig.JSON(caddyhttp.MatchPath{"*"}, nil)}
		}
		return h.NewRoute(matcher, handler), nil
	})
}

// inNamedRoute reads what Caddy does not export. Should a later Caddy rename it, the test of
// named routes fails, unless that Caddy keeps all handlers.
func inNamedRoute(h httpcaddyfile.Helper) bool {
	block := reflect.ValueOf(h).FieldByName("parentBlock")
	if !block.IsValid() || block.Kind() != reflect.Struct {
		return false
	}
	named := block.FieldByName("IsNamedRoute")
	return named.IsValid() && named.Kind() == reflect.Bool && named.Bool()
}
