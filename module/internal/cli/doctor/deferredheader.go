package doctor

import (
	"encoding/json"
	"net/http"
	"slices"
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
		for _, rt := range s.Routes {
			if field := storesErrors(rt); field != "" {
				hosts, _ := rt.Hosts()
				out.Warn("headers", "set "+field+" in the API, or with `header ?"+field+"`, which leaves it where one is set; a `header` with `-`, `>` or `defer` is applied to every response",
					"a deferred header of the site %s sets %s on refusals and pages of the gateway, too: a shared cache gives one caller's refusal to others", strings.Join(append(hosts, s.Listen...), " "), field)
			}
		}
	}
	return out
}

// storesErrors returns the field that such a header in front of one of our handlers sets, "" if there is none.
func storesErrors(rt routes.Route) (field string) {
	for raw, h := range rt.Handlers() {
		if field != "" && strings.HasPrefix(h.Handler, "gatehouse_") {
			return field
		}
		var header struct {
			Response struct {
				Deferred bool            `json:"deferred"`
				Require  json.RawMessage `json:"require"`
				Set      http.Header     `json:"set"`
			} `json:"response"`
		}
		if h.Handler != "headers" || json.Unmarshal(raw, &header) != nil || !header.Response.Deferred || header.Response.Require != nil {
			continue
		}
		for _, name := range explain.SortedKeys(header.Response.Set) {
			one := http.Header{http.CanonicalHeaderKey(name): slices.Clone(header.Response.Set[name])}
			if field == "" && httpx.IsStorable(one) {
				field = http.CanonicalHeaderKey(name)
			}
		}
	}
	return ""
}
