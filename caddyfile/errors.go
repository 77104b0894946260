package caddyfile

import (
	"github.com/caddyserver/caddy/v2/caddyconfig/httpcaddyfile"
	"github.com/caddyserver/caddy/v2/modules/caddyhttp"

	"github.com/gatehouse/gatehouse/module/gateway"
)

// parseErrors parses api_errors.
//
//	api_errors [<matcher>] {
//		problem_json
//		expose
//		upstream_auth 502
//	}
func parseErrors(h httpcaddyfile.Helper) (caddyhttp.MiddlewareHandler, error) {
	h.Next()
	if h.NextArg() {
		return nil, h.Errf("api_errors: unexpected argument '%s', expected a block or nothing", h.Val())
	}
	e := new(gateway.Errors)
	for h.NextBlock(0) {
		var err error
		switch h.Val() {
		case "problem_json":
			e.ProblemJSON, err = true, flag(h.Dispenser)
		case "expose":
			e.Expose, err = true, flag(h.Dispenser)
		case "upstream_auth":
			var status string
			status, err = one(h.Dispenser, "502")
			if err == nil && status != "502" {
				err = h.Errf("upstream_auth: unexpected '%s', expected 502", status)
			}
			e.UpstreamAuth = true
		default:
			err = unknown(h.Dispenser, "api_errors", "problem_json", "expose", "upstream_auth")
		}
		if err != nil {
			return nil, err
		}
	}
	return e, nil
}
