package caddyfile

import (
	"errors"
	"fmt"
	"strings"

	"github.com/caddyserver/caddy/v2/caddyconfig/caddyfile"
	"github.com/caddyserver/caddy/v2/caddyconfig/httpcaddyfile"
	"github.com/caddyserver/caddy/v2/modules/caddyhttp"

	"github.com/gatehouse/gatehouse/module/gateway/restapi"
	"github.com/gatehouse/gatehouse/module/rest/resource"
)

// parseREST parses api_rest.
//
//	api_rest [<matcher>] {
//		vendor <name>
//		to <addresses...> [charset <name>]
//		to { [charset <name>] <directives> }
//		version <name> { ... }
//		resource <path> { ... }
//		job <path> { ... }
//		errors { ... }
//		max_body <size>
//		lint off|warn|error
//		undeclared deny|pass
//		openapi [<title>]
//		header_down <names...>
//		login { ... }
//		send fixed [<operations...>] [query|body|header] <name>=<value>...
//		header_up Cookie
//	}
func parseREST(h httpcaddyfile.Helper) (caddyhttp.MiddlewareHandler, error) {
	h.Next()
	head := h.Token()
	if h.NextArg() {
		return nil, h.Errf("api_rest: unexpected argument '%s', expected a block", h.Val())
	}
	r := &rest{Helper: h, REST: new(restapi.REST)}
	empty := true
	for h.NextBlock(0) {
		empty = false
		if err := r.word(); err != nil {
			return nil, err
		}
	}
	if empty {
		return nil, at(head, errors.New("api_rest: expected a block with at least a resource, such as `resource articles`, or `to`"))
	}
	if err := r.Check(); err != nil {
		return nil, at(head, fmt.Errorf("api_rest: %w", err))
	}
	if len(r.pending) > 0 && !r.Errors.AsksForJSON() {
		return nil, r.pending[0]
	}
	if err := r.checkConditions(); err != nil {
		return nil, err
	}
	return r.REST, r.lint(head)
}

// rest is an api_rest as far as it was read.
type rest struct {
	httpcaddyfile.Helper
	*restapi.REST
	places []declared // of paths, in the order of the file
	// conditions is where each fail_when of `errors` stands.
	conditions []caddyfile.Token
	// pending are errors unless the API's dialect refuses what is not JSON.
	pending []error
}

func (r *rest) word() (err error) {
	switch r.Val() {
	case "vendor":
		err = text(r.Dispenser, &r.Vendor, "a name such as acme")
		if err == nil && !vendorName.MatchString(r.Vendor) {
			err = r.Errf("vendor: invalid name '%s', expected lower case letters, digits and hyphens, such as acme", r.Vendor)
		}
	case "to":
		r.Upstream, err = to(r.Helper, r.Upstream, &r.Charset)
	case "version":
		err = r.version()
	case "resource":
		r.Resources, err = r.resource(r.Resources, nil)
	case "job":
		err = r.job()
	case "errors":
		err = r.errors()
	case "max_body":
		err = size(r.Dispenser, &r.MaxBody)
	case "lint":
		err = choice(r.Dispenser, &r.Lint, "off", "warn", "error")
	case "openapi":
		err = r.openapi()
	case "send":
		err = r.sendFixed()
	case "login":
		err = readLogin(r.Dispenser, &r.Login)
	case "header_down":
		err = r.headers(&r.HeaderDown)
	case "header_up":
		err = r.headers(&r.HeaderUp)
	case "undeclared":
		err = choice(r.Dispenser, &r.Undeclared, "deny", "pass")
	default:
		err = unknown(r.Dispenser, "api_rest", "vendor", "to", "version", "resource", "job", "errors", "max_body", "lint", "undeclared", "openapi", "header_down", "header_up", "send", "login")
	}
	return err
}

// resource reads a resource, and adds it to those before. replaced are those of all
// versions, where it is one of a version.
func (r *rest) resource(before, replaced []resource.Resource) ([]resource.Resource, error) {
	head := r.Token()
	read, err := readResource(r.Dispenser, place{func(r resource.Resource) resource.Resource { return r }, r.saw, func(err error) { r.pending = append(r.pending, err) }})
	if err != nil {
		return nil, err
	}
	after := append(before, read)
	shared := replaced
	for _, own := range after {
		shared = without(shared, own.Path)
	}
	if _, err := restapi.CompileResources(append(shared, after...)); err != nil {
		return nil, at(head, err)
	}
	return after, nil
}

func without(all []resource.Resource, path string) (others []resource.Resource) {
	for _, r := range all {
		if strings.Trim(r.Path, "/") != strings.Trim(path, "/") {
			others = append(others, r)
		}
	}
	return others
}

// errors reads how the upstream reports errors.
func (r *rest) errors() error {
	if err := once(r.Dispenser, r.Errors != nil); err != nil {
		return err
	}
	if r.NextArg() {
		return r.Errf("errors: unexpected argument '%s', expected a block", r.Val())
	}
	r.Errors = new(restapi.Dialect)
	for nesting := r.Nesting(); r.NextBlock(nesting); {
		var err error
		switch e := r.Errors; r.Val() {
		case "expose":
			err = flag(r.Dispenser, &e.Expose)
		case "upstream_auth":
			err = upstreamAuth(r.Dispenser, &e.UpstreamAuth)
		case "from":
			e.From, err = from(r.Dispenser, e.From)
		case "fail_when":
			r.conditions = append(r.conditions, r.Token())
			e.FailWhen, err = failWhen(r.Dispenser, e.FailWhen)
		case "charset":
			err = charsetName(r.Dispenser, &e.Charset)
		default:
			err = unknown(r.Dispenser, "errors", "expose", "upstream_auth", "from", "fail_when", "charset")
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// openapi reads that the API is described, and perhaps its title.
func (r *rest) openapi() error {
	if err := once(r.Dispenser, r.OpenAPI != nil); err != nil {
		return err
	}
	r.OpenAPI = new(restapi.OpenAPI)
	words := r.RemainingArgs()
	if len(words) > 1 {
		return r.Errf("openapi: unexpected argument '%s', expected only a title, in quotes", words[1])
	}
	if len(words) == 1 {
		r.OpenAPI.Title = words[0]
	}
	return nil
}
