package caddyfile

import (
	"errors"
	"fmt"
	"reflect"
	"strings"

	"github.com/caddyserver/caddy/v2"
	"github.com/caddyserver/caddy/v2/caddyconfig"
	"github.com/caddyserver/caddy/v2/caddyconfig/caddyfile"
	"github.com/caddyserver/caddy/v2/caddyconfig/httpcaddyfile"
	"github.com/caddyserver/caddy/v2/modules/caddyhttp"

	"github.com/gatehouse/gatehouse/caddyfile/internal/parse"
)

// Caddy joins handlers without a matcher into one route, and if a named route, &(name) { ... },
// then consists of only that, Caddy keeps its first handler and drops the others: api_errors
// would remain and the guard behind it be gone. A route with a matcher is kept whole, so our
// directives in a named route get one that matches everything (newRoute). That helps where one
// stands directly in the named route. If all of ours stand deeper, as in a `route` behind a
// `header`, they cannot change what Caddy does with the level above, and checkKept refuses it.

// ours are the names of our directives.
var ours = map[string]bool{}

func register(directive string, read httpcaddyfile.UnmarshalFunc) {
	ours[directive] = true
	httpcaddyfile.RegisterDirective(directive, func(h httpcaddyfile.Helper) ([]httpcaddyfile.ConfigValue, error) {
		if h.IsNamedRoute() {
			if err := checkKept(h); err != nil {
				return nil, err
			}
		}
		return read(h)
	})
}

// registerHandler is httpcaddyfile.RegisterHandlerDirective for named routes too.
func registerHandler(directive string, read httpcaddyfile.UnmarshalHandlerFunc) {
	register(directive, func(h httpcaddyfile.Helper) ([]httpcaddyfile.ConfigValue, error) {
		if !h.Next() {
			return nil, h.ArgErr()
		}
		matcher, err := h.ExtractMatcherSet()
		if err != nil {
			return nil, err
		}
		handler, err := read(h)
		if err != nil {
			return nil, err
		}
		return newRoute(h, matcher, handler), nil
	})
}

func newRoute(h httpcaddyfile.Helper, matcher caddy.ModuleMap, handler caddyhttp.MiddlewareHandler) []httpcaddyfile.ConfigValue {
	if matcher == nil && h.IsNamedRoute() {
		matcher = caddy.ModuleMap{"path": caddyconfig.JSON(caddyhttp.MatchPath{"*"}, nil)}
	}
	return h.NewRoute(matcher, handler)
}

// checkKept refuses a named route of whose outermost directives Caddy drops all but the first.
func checkKept(h httpcaddyfile.Helper) error {
	d := *h.Dispenser
	d.Next()
	here := d.Token()
	tokens, err := namedRoute(h)
	if err != nil {
		return parse.ErrorAt(here, err)
	}
	const key = "gatehouse.named_route"
	if name := tokens[0].Text; h.State[key] == name {
		return nil // checked, or it is this check that reads the directive
	}
	h.State[key] = tokens[0].Text
	outermost, direct := outline(tokens)
	if direct {
		return nil
	}
	handler, err := httpcaddyfile.ParseSegmentAsSubroute(h.WithDispenser(caddyfile.NewDispenser(outermost)))
	if err != nil {
		return err
	}
	routes := handler.(*caddyhttp.Subroute).Routes
	if len(routes) != 1 || len(routes[0].MatcherSetsRaw) > 0 || len(routes[0].HandlersRaw) == 1 {
		return nil
	}
	return parse.ErrorAt(here, fmt.Errorf("%s: Caddy keeps only the first directive of the named route %s, as none has a matcher, and may drop this one; "+
		"write it with `handle { ... }` around all directives of the named route", here.Text, tokens[0].Text))
}

// outline leaves out what stands within handle and route, and the definitions of matchers, which
// the helper has; direct says that a directive of ours stands directly in the named route.
func outline(tokens caddyfile.Segment) (outermost caddyfile.Segment, direct bool) {
	d := caddyfile.NewDispenser(tokens)
	d.Next()
	outermost = append(outermost, tokens[:2]...) // its name and a brace
	for nesting := d.Nesting(); d.NextBlock(nesting); {
		segment := d.NextSegment()
		switch name := segment.Directive(); {
		case ours[name]:
			return nil, true
		case strings.HasPrefix(name, "@"):
			continue
		case name == "handle" || name == "handle_path" || name == "route":
			segment = withoutBlock(segment)
		}
		outermost = append(outermost, segment...)
	}
	return append(outermost, tokens[len(tokens)-1]), false
}

func withoutBlock(segment caddyfile.Segment) caddyfile.Segment {
	for i, t := range segment {
		if t.Text == "{" {
			return append(append(caddyfile.Segment{}, segment[:i+1]...), segment[len(segment)-1])
		}
	}
	return segment
}

// namedRoute returns the tokens of the named route that the directive stands in, snippets
// included. Caddy does not export them; a Caddy that renames them is refused here.
func namedRoute(h httpcaddyfile.Helper) (caddyfile.Segment, error) {
	field := reflect.ValueOf(&h).Elem().FieldByName("parentBlock")
	if field.IsValid() && field.Type() == reflect.TypeFor[caddyfile.ServerBlock]() {
		block := reflect.NewAt(field.Type(), field.Addr().UnsafePointer()).Elem().Interface().(caddyfile.ServerBlock)
		if len(block.Segments) == 1 && len(block.Segments[0]) > 3 {
			return block.Segments[0], nil
		}
	}
	return nil, errors.New("this version of Caddy has named routes that the gateway cannot read; write it without a named route")
}
