package caddyfile

import (
	"slices"

	"github.com/caddyserver/caddy/v2/caddyconfig/caddyfile"
	"github.com/caddyserver/caddy/v2/caddyconfig/httpcaddyfile"
	"github.com/caddyserver/caddy/v2/modules/caddyhttp"

	"github.com/gatehouse/gatehouse/module/gateway"
	"github.com/gatehouse/gatehouse/module/rest/envelope"
)

// parseErrors parses api_errors.
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
			err = upstreamAuth(h.Dispenser, &e.UpstreamAuth)
		case "from":
			e.From, err = from(h.Dispenser, e.From)
		case "fail_when":
			e.FailWhen, err = failWhen(h.Dispenser, e.FailWhen)
		case "charset":
			err = charsetName(h.Dispenser, &e.Charset)
		default:
			err = unknown(h.Dispenser, "api_errors", "problem_json", "expose", "upstream_auth", "from", "fail_when", "charset")
		}
		if err != nil {
			return nil, err
		}
	}
	return e, nil
}

// upstreamAuth reads the one status there is.
func upstreamAuth(d *caddyfile.Dispenser, set *bool) error {
	if err := once(d, *set); err != nil {
		return err
	}
	status, err := one(d, "502")
	if err == nil && status != "502" {
		err = d.Errf("upstream_auth: unexpected '%s', expected 502", status)
	}
	*set = true
	return err
}

// from reads where an upstream's errors have their texts, and adds it to those before.
// A - is a place that the upstream does not have.
func from(d *caddyfile.Dispenser, rules []envelope.From) ([]envelope.From, error) {
	args, err := some(d, "json or html")
	if err != nil {
		return nil, err
	}
	if len(args) > 4 {
		return nil, d.Errf("from: unexpected argument '%s', expected only the places of code, message and field", args[4])
	}
	rule := envelope.From{Kind: envelope.Kind(args[0])}
	for i, place := range []*string{&rule.Code, &rule.Message, &rule.Field} {
		if i+1 < len(args) && args[i+1] != "-" {
			*place = args[i+1]
		}
	}
	if err := rule.Check(); err != nil {
		return nil, d.WrapErr(err)
	}
	if slices.Contains(rules, rule) {
		return nil, d.Errf("from %s is given twice with the same places", rule.Kind)
	}
	return append(rules, rule), nil
}
