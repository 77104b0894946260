package headers

import (
	"encoding/json"
	"net/http"

	"github.com/gatehouse/gatehouse/module/internal/cli/doctor/sites"
	"github.com/gatehouse/gatehouse/module/internal/cli/explain"
	"github.com/gatehouse/gatehouse/module/internal/routes"
)

// errorHeaders returns the headers that are applied to responses to errors of a site.
func errorHeaders(s explain.Server, site []routes.Route) []deferredHeader {
	return headersWithin("handle_errors", sites.ErrorRoutes(s, site), s.NamedRoutes, nil, everyResponse)
}

// headersWithin returns the headers in routes for errors or responses, where they are applied at once.
func headersWithin(block string, list []routes.Route, named map[string]routes.Route, under []string, among responses) []deferredHeader {
	w := &laterHeaders{block: block, named: named}
	w.list(list, under, among)
	return w.found
}

type laterHeaders struct {
	block     string
	named     map[string]routes.Route
	invoked   int // depth of invocations
	rewritten bool
	found     []deferredHeader
}

func (w *laterHeaders) list(all []routes.Route, under []string, among responses) {
	for _, rt := range all {
		paths, own := under, sites.ErrorStatus(rt.Match)
		if named, _ := pathsOf(rt.Match); named != nil && !w.rewritten {
			paths = named
		}
		w.chain(rt.Handle, paths, func(status int, h http.Header) bool { return own(status) && among(status, h) })
	}
}

func (w *laterHeaders) chain(handle []json.RawMessage, under []string, among responses) {
	for _, raw := range handle {
		h, _ := routes.ReadHandler(raw)
		switch {
		case h.Handler == "headers":
			ops, ok := responseOps(raw)
			if !ok {
				continue
			}
			if effect := effectOf(ops, among); effect.field != "" {
				w.found = append(w.found, deferredHeader{effect, w.block, under})
			}
		case h.Handler == "rewrite":
			w.rewritten = true
		case h.Handler == "subroute":
			w.list(h.Routes, under, among)
		case h.Handler == "invoke" && w.invoked < routes.MaxInvocations:
			w.invoked++
			w.list([]routes.Route{w.named[h.Name]}, under, among)
			w.invoked--
		}
	}
}
