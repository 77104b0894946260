package caddyfile

import (
	"slices"
	_ "unsafe" // for go:linkname

	"github.com/caddyserver/caddy/v2"
	"github.com/caddyserver/caddy/v2/caddyconfig"
	"github.com/caddyserver/caddy/v2/caddyconfig/httpcaddyfile"
	"github.com/caddyserver/caddy/v2/modules/caddyhttp"
	_ "github.com/caddyserver/caddy/v2/modules/caddyhttp/standard" // registers Caddy's directives before ours
)

// Caddy joins neighboring routes without a matcher into one. If a named route, &(name) { ... },
// then consists of only that, Caddy 2.11 keeps its first handler and drops the others: api_errors
// would remain and the guard behind it be gone, and so would an `invoke` of another named route
// that has the guard. A named route of two routes is kept whole. Hence whatever may have or hold a
// guard adds a second route in there, which does nothing.

// holders are Caddy's directives that a guard can stand in. handle_path always has a matcher.
var holders = []string{"handle", "route", "invoke", "reverse_proxy", "forward_auth", "php_fastcgi", "intercept"}

// directives is Caddy's table of directives. Caddy exports no way to change one.
//
//go:linkname directives github.com/caddyserver/caddy/v2/caddyconfig/httpcaddyfile.registeredDirectives
var directives map[string]httpcaddyfile.UnmarshalFunc

// keepInNamedRoutes changes directives so that named routes keep them.
func keepInNamedRoutes(names ...string) {
	for _, name := range names {
		read := directives[name]
		if read == nil {
			panic("this version of Caddy has no directive " + name + " that Gatehouse knows how to keep in named routes")
		}
		directives[name] = func(h httpcaddyfile.Helper) ([]httpcaddyfile.ConfigValue, error) {
			values, err := read(h)
			if err == nil && h.IsNamedRoute() {
				values = append(values, second(name, values)...)
			}
			return values, err
		}
	}
}

// second returns the route that does nothing. Caddy groups several of `handle`, of which only the
// first that matches is run, so there it must be the last, which it is without a matcher; the
// group keeps it apart from the routes of other directives.
func second(directive string, values []httpcaddyfile.ConfigValue) []httpcaddyfile.ConfigValue {
	var nothing caddyhttp.Route
	if directive != "handle" {
		nothing.MatcherSetsRaw = caddyhttp.RawMatcherSets{caddy.ModuleMap{"path": caddyconfig.JSON(caddyhttp.MatchPath{"*"}, nil)}}
	} else if hasMatcher(values) {
		return nil
	}
	return []httpcaddyfile.ConfigValue{{Class: "route", Value: nothing}}
}

func hasMatcher(values []httpcaddyfile.ConfigValue) bool {
	return slices.ContainsFunc(values, func(v httpcaddyfile.ConfigValue) bool {
		rt, ok := v.Value.(caddyhttp.Route)
		return ok && len(rt.MatcherSetsRaw) > 0
	})
}
