// Package headers finds lines with `header` that let caches store what they must not, or give one caller's response to others.
package headers

import (
	"encoding/json"
	"reflect"
	"slices"
	"strings"

	"github.com/gatehouse/gatehouse/module/internal/adminapi"
	"github.com/gatehouse/gatehouse/module/internal/cli/doctor/sites"
	"github.com/gatehouse/gatehouse/module/internal/cli/explain"
	"github.com/gatehouse/gatehouse/module/internal/routes"
)

// Examine looks for a `header` that lets caches store every response of a site, errors and sign-in pages included, or give one
// caller's response to others: a deferred one replaces what the handlers behind it have set.
func Examine(c *explain.Configuration) (out adminapi.Findings) {
	for _, name := range explain.SortedKeys(c.Servers) {
		s := c.Servers[name]
		for _, site := range sites.Of(s.Routes) {
			f := headerSearch{named: s.NamedRoutes}
			f.list(site, errorHeaders(s, site), nil)
			if f.found != nil {
				f.found.warn(&out, sites.Address(s, site))
			}
		}
	}
	return out
}

// deferredHeader is a header that is applied to responses of the handlers behind it.
type deferredHeader struct {
	headerEffect
	block string   // `handle_errors` or `intercept`, "" if it is in none
	paths []string // patterns of its requests, nil for every path
}

func (h deferredHeader) warn(out *adminapi.Findings, at string) {
	kind := "a deferred header"
	if h.block != "" {
		kind = "a header in `" + h.block + "`"
	}
	switch {
	case h.field == "Vary" && h.block != "":
		out.Warn("headers", "name Authorization in it, as in `header Vary \"Authorization, Accept-Encoding\"`, or let it leave Vary alone",
			"%s of the site %s removes Authorization from Vary: a shared cache gives one caller's response to others", kind, at)
	case h.field == "Vary":
		out.Warn("headers", "remove what deletes it, and set Vary with a `header` of its own, without `-`, `>`, `defer` and `match`: the gateway adds Authorization to that",
			"%s of the site %s removes Authorization from Vary: a shared cache gives one caller's response to others", kind, at)
	default:
		out.Warn("headers", "set "+h.field+" in the API, or with `header ?"+h.field+"`, which leaves it where one is set; a `header` with `-`, `>` or `defer`, or in `handle_errors`, is applied to every response",
			"%s of the site %s changes %s of refusals and pages of the gateway, too: a shared cache gives one caller's refusal to others", kind, at, h.field)
	}
}

// within reports whether every path of the header is one of these.
func (h deferredHeader) within(paths []string) bool {
	return h.paths != nil && !slices.ContainsFunc(h.paths, func(own string) bool {
		return !slices.ContainsFunc(paths, func(p string) bool {
			base, below := strings.CutSuffix(p, "*")
			return literal(base) == base && (own == p || below && strings.HasPrefix(literal(own), base))
		})
	})
}

// apartFrom reports whether no path of the header can be one of these.
func (h deferredHeader) apartFrom(paths []string) bool {
	return h.paths != nil && paths != nil && !slices.ContainsFunc(h.paths, func(own string) bool {
		return slices.ContainsFunc(paths, func(p string) bool {
			return strings.HasPrefix(literal(p), literal(own)) || strings.HasPrefix(literal(own), literal(p))
		})
	})
}

// literal is what every path of a pattern begins with.
func literal(pattern string) string {
	if i := strings.IndexAny(pattern, "*{%"); i >= 0 {
		return pattern[:i]
	}
	return pattern
}

// pathsOf returns the patterns of the paths that matchers let through, nil for every path, and whether they look at anything else.
func pathsOf(sets []map[string]json.RawMessage) (all []string, others bool) {
	for _, set := range sets {
		var paths []string
		if json.Unmarshal(set["path"], &paths) != nil {
			return nil, true
		}
		for _, p := range paths {
			all = append(all, strings.ToLower(p))
		}
		others = others || len(set) > 1
	}
	return all, others
}

// headerSearch looks for a handler of ours behind such a header.
type headerSearch struct {
	named   map[string]routes.Route
	invoked int // depth of invocations
	found   *deferredHeader
}

// list follows routes behind deferred headers, and returns those that stand in front of what comes after. under are patterns of the
// paths that lead here, nil for every path. Of routes with the same group only one is run.
func (f *headerSearch) list(all []routes.Route, front []deferredHeader, under []string) []deferredHeader {
	before, group := front, ""
	for _, rt := range all {
		if rt.Group == "" || rt.Group != group {
			before, group = front, rt.Group
		}
		own, others := pathsOf(rt.Match)
		inside := slices.DeleteFunc(slices.Clone(before), func(h deferredHeader) bool { return h.apartFrom(own) })
		paths := under
		if own != nil {
			paths = own
		}
		for _, h := range f.chain(rt.Handle, inside, paths) {
			if !slices.ContainsFunc(front, func(o deferredHeader) bool { return reflect.DeepEqual(o, h) }) {
				front = append(slices.Clip(front), h)
			}
		}
		if !others { // in the same group, the rest sees none of these paths
			before = slices.DeleteFunc(slices.Clone(before), func(h deferredHeader) bool { return h.within(own) })
		}
	}
	return front
}

func (f *headerSearch) chain(handle []json.RawMessage, front []deferredHeader, under []string) []deferredHeader {
	for _, raw := range handle {
		h, _ := routes.ReadHandler(raw)
		switch {
		case h.Handler == "headers":
			if effect := deferredEffect(raw); effect.field != "" {
				front = append(slices.Clip(front), deferredHeader{effect, "", under})
			}
		case h.Handler == "intercept":
			for _, r := range sites.ResponsesOf(h) {
				front = append(slices.Clip(front), headersWithin("intercept", r.Routes, f.named, under, responsesThat(r.Match))...)
			}
		case h.Handler == "rewrite": // what comes after sees other paths
			front, under = slices.Clone(front), nil
			for i := range front {
				if front[i].block != "handle_errors" { // which has the request as it came
					front[i].paths = nil
				}
			}
		case h.Handler == "subroute":
			front = f.list(h.Routes, front, under)
		case h.Handler == "invoke" && f.invoked < routes.MaxInvocations:
			f.invoked++
			front = f.list([]routes.Route{f.named[h.Name]}, front, under)
			f.invoked--
		case strings.HasPrefix(h.Handler, "gatehouse_") && f.found == nil:
			if i := slices.IndexFunc(front, func(o deferredHeader) bool { return !o.pagesOnly || h.Handler == "gatehouse_server" }); i >= 0 {
				f.found = &front[i]
			}
		}
	}
	return front
}
