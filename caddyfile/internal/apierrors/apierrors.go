package apierrors

import (
	"github.com/caddyserver/caddy/v2/caddyconfig/httpcaddyfile"
	"github.com/caddyserver/caddy/v2/modules/caddyhttp"

	"github.com/gatehouse/gatehouse/caddyfile/internal/parse"
	"github.com/gatehouse/gatehouse/module/gateway"
)

// Parse parses api_errors.
//
//	api_errors [<matcher>] {
//		problem_json
//		expose
//		upstream_auth 502
//		from json [<code> [<message> [<field>]]]
//		from html
//		fail_when <pointer> <operator> <values...> status <status> [<code>]
//		fail_when header <name> <operator> <values...> status <status> [<code>]
//		fail_when not_json [status <status> [<code>]]
//		charset <name>
//	}
func Parse(h httpcaddyfile.Helper) (caddyhttp.MiddlewareHandler, error) {
	h.Next()
	if h.NextArg() {
		return nil, h.Errf("api_errors: unexpected argument '%s', expected a block or nothing", h.Val())
	}
	e := new(gateway.Errors)
	words := Dialect(&e.Expose, &e.UpstreamAuth, &e.From, &e.FailWhen, &e.Charset)
	words["problem_json"] = parse.Flag(&e.ProblemJSON)
	return e, words.ReadBlock(h.Dispenser, "api_errors")
}
