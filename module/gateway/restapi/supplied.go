package restapi

import (
	"net/http"
	"slices"

	"github.com/caddyserver/caddy/v2"

	"github.com/gatehouse/gatehouse/module/rest/supply"
)

// jobParams are the parameters that the gateway sends with jobs that are for no resource.
func (h *REST) jobParams() (params []supply.Param) {
	for _, f := range h.Fixed {
		if len(f.Operations) == 0 {
			params = append(params, f.Param())
		}
	}
	return params
}

// jobBodyParams are the parameters that bodies of such jobs cannot have in an edition.
func (h *REST) jobBodyParams(e *edition) []supply.Param {
	if e.api.Login == nil {
		return h.jobParams()
	}
	return slices.Concat(h.jobParams(), e.account.Kept())
}

// replacePlaceholders fills in the placeholders of a text for a request, and calls seen for each.
func replacePlaceholders(r *http.Request, text string, seen func(name, value string) error) (string, error) {
	repl, ok := r.Context().Value(caddy.ReplacerCtxKey).(*caddy.Replacer)
	if !ok {
		repl = caddy.NewReplacer()
	}
	return repl.ReplaceFunc(text, func(name string, value any) (any, error) {
		text := caddy.ToString(value)
		return text, seen(name, text)
	})
}
