package doctor

import (
	"cmp"
	"encoding/json"
	"net/http"
	"strings"

	"github.com/gatehouse/gatehouse/module/internal/adminapi"
	"github.com/gatehouse/gatehouse/module/internal/cli/explain"
	"github.com/gatehouse/gatehouse/module/internal/httpx"
	"github.com/gatehouse/gatehouse/module/internal/routes"
)

// deferredHeaders looks for a `header` that lets caches store every response of a site, errors and sign-in pages included: a
// deferred one replaces what the handlers behind it have set.
func (p configuration) deferredHeaders() (out adminapi.Findings) {
	for _, name := range explain.SortedKeys(p.Servers) {
		s := p.Servers[name]
		for _, site := range sitesOf(s.Routes) {
			f := headerSearch{named: s.NamedRoutes}
			if f.list(site, ""); f.found == "" {
				continue
			}
			hosts, _ := site[0].Hosts()
			out.Warn("headers", "set "+f.found+" in the API, or with `header ?"+f.found+"`, which leaves it where one is set; a `header` with `-`, `>` or `defer` is applied to every response",
				"a deferred header of the site %s changes %s of refusals and pages of the gateway, too: a shared cache gives one caller's refusal to others", strings.Join(append(hosts, s.Listen...), " "), f.found)
		}
	}
	return out
}

// headerSearch looks for a handler of ours behind such a header.
type headerSearch struct {
	named   map[string]routes.Route
	invoked int    // depth of invocations
	found   string // the field
}

// list follows routes behind a header with this field, "" for none, and returns that of what comes after. Of routes with the same group
// only one is run.
func (f *headerSearch) list(all []routes.Route, field string) string {
	before, group := field, ""
	for _, rt := range all {
		if rt.Group == "" || rt.Group != group {
			before, group = field, rt.Group
		}
		field = cmp.Or(f.chain(rt.Handle, before), field)
	}
	return field
}

func (f *headerSearch) chain(handle []json.RawMessage, field string) string {
	for _, raw := range handle {
		h, _ := routes.ReadHandler(raw)
		switch {
		case h.Handler == "headers":
			field = cmp.Or(field, storingField(raw))
		case h.Handler == "subroute":
			field = f.list(h.Routes, field)
		case h.Handler == "invoke" && f.invoked < routes.MaxInvocations:
			f.invoked++
			field = f.list([]routes.Route{f.named[h.Name]}, field)
			f.invoked--
		case strings.HasPrefix(h.Handler, "gatehouse_"):
			f.found = cmp.Or(f.found, field)
		}
	}
	return field
}

// storingField returns the field of a deferred header by which caches may store a response, "" if there is none.
func storingField(raw json.RawMessage) string {
	var header struct {
		Response struct {
			Deferred bool            `json:"deferred"`
			Require  json.RawMessage `json:"require"`
			Set      http.Header     `json:"set"`
			Delete   []string        `json:"delete"`
		} `json:"response"`
	}
	r := &header.Response
	if json.Unmarshal(raw, &header) != nil || !r.Deferred || r.Require != nil {
		return ""
	}
	for _, name := range explain.SortedKeys(r.Set) {
		if field := http.CanonicalHeaderKey(name); httpx.IsStorable(http.Header{field: r.Set[name]}) {
			return field
		}
	}
	for _, name := range r.Delete {
		if name = http.CanonicalHeaderKey(name); name == "Cache-Control" || name == "Vary" {
			return name
		}
	}
	return ""
}
