package restapi

import (
	"net/http"
	"slices"

	"github.com/caddyserver/caddy/v2"

	"github.com/gatehouse/gatehouse/module/rest/login"
	"github.com/gatehouse/gatehouse/module/rest/resource"
	"github.com/gatehouse/gatehouse/module/rest/supply"
)

// jobParams are the parameters that the gateway sends with jobs that are for no resource.
func jobParams(fixed []resource.Fixed) (params []supply.Param) {
	for _, f := range fixed {
		if len(f.Operations) == 0 {
			params = append(params, f.Param())
		}
	}
	return params
}

// jobBodyParams are the parameters that bodies of such jobs cannot have. account is how the gateway
// signs in; nil: it does not.
func jobBodyParams(fixed []resource.Fixed, account *login.Config) []supply.Param {
	if account == nil {
		return jobParams(fixed)
	}
	return slices.Concat(jobParams(fixed), account.Kept())
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
