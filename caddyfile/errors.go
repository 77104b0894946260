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
			err = flag(h.Dispenser, &e.ProblemJSON)
		case "expose":
			err = flag(h.Dispenser, &e.Expose)
		case "upstream_auth":
			if err := once(h.Dispenser, e.UpstreamAuth); err != nil {
				return nil, err
			}
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
