package apirest

import (
	"errors"
	"fmt"
	"regexp"
	"strings"

	"github.com/caddyserver/caddy/v2/caddyconfig/caddyfile"
	"github.com/caddyserver/caddy/v2/caddyconfig/httpcaddyfile"
	"github.com/caddyserver/caddy/v2/modules/caddyhttp"

	"github.com/gatehouse/gatehouse/caddyfile/internal/apierrors"
	"github.com/gatehouse/gatehouse/caddyfile/internal/parse"
	"github.com/gatehouse/gatehouse/module/gateway/restapi"
	"github.com/gatehouse/gatehouse/module/rest/resource"
)

var vendorName = regexp.MustCompile(`^[a-z][a-z0-9-]*(\.[a-z0-9-]+)*$`)

// Parse parses api_rest.
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
func Parse(h httpcaddyfile.Helper) (caddyhttp.MiddlewareHandler, error) {
	h.Next()
	head := h.Token()
	if h.NextArg() {
		return nil, h.Errf("api_rest: unexpected argument '%s', expected a block", h.Val())
	}
	b := &block{Helper: h, REST: new(restapi.REST)}
	empty := true
	for h.NextBlock(0) {
		empty = false
		if err := b.readWord(); err != nil {
			return nil, err
		}
	}
	if empty {
		return nil, parse.ErrorAt(head, errors.New("api_rest: expected a block with at least a resource, such as `resource articles`, or `to`"))
	}
	if err := b.Check(); err != nil {
		return nil, parse.ErrorAt(head, fmt.Errorf("api_rest: %w", err))
	}
	if len(b.unlessJSON) > 0 && !b.Errors.AsksForJSON() {
		return nil, b.unlessJSON[0]
	}
	if err := b.checkConditions(); err != nil {
		return nil, err
	}
	return b.REST, b.checkNames(head)
}

// block is the api_rest that is being parsed.
type block struct {
	httpcaddyfile.Helper
	*restapi.REST
	paths []pathLine // in the order of the file
	// conditions are the lines of each fail_when of `errors`.
	conditions []caddyfile.Token
	// unlessJSON are errors unless the API's dialect refuses what is not JSON.
	unlessJSON []error
}

func (b *block) readWord() (err error) {
	switch b.Val() {
	case "vendor":
		err = parse.Text(b.Dispenser, &b.Vendor, "a name such as acme")
		if err == nil && !vendorName.MatchString(b.Vendor) {
			err = b.Errf("vendor: invalid name '%s', expected lower case letters, digits and hyphens, such as acme", b.Vendor)
		}
	case "to":
		b.Upstream, err = readUpstream(b.Helper, b.Upstream, &b.Charset)
	case "version":
		err = b.readVersion()
	case "resource":
		b.Resources, err = b.addResource(b.Resources, nil)
	case "job":
		err = b.readJob()
	case "errors":
		err = b.readErrors()
	case "max_body":
		err = parse.Size(b.Dispenser, &b.MaxBody)
	case "lint":
		err = parse.Choice(b.Dispenser, &b.Lint, "off", "warn", "error")
	case "openapi":
		err = b.readOpenAPI()
	case "send":
		b.Fixed, err = readFixed(b.Dispenser, b.Fixed)
	case "login":
		err = readLogin(b.Dispenser, &b.Login)
	case "header_down":
		err = b.readHeaderNames(&b.HeaderDown)
	case "header_up":
		err = b.readHeaderNames(&b.HeaderUp)
	case "undeclared":
		err = parse.Choice(b.Dispenser, &b.Undeclared, "deny", "pass")
	default:
		err = parse.UnknownWord(b.Dispenser, "api_rest", "vendor", "to", "version", "resource", "job", "errors", "max_body", "lint", "undeclared", "openapi", "header_down", "header_up", "send", "login")
	}
	return err
}

// addResource reads a resource and adds it to those before. inherited are the resources of all
// versions if it belongs to one version, which replaces those of the same path.
func (b *block) addResource(before, inherited []resource.Resource) ([]resource.Resource, error) {
	head := b.Token()
	read, err := readResource(b.Dispenser, surroundings{
		enclose:    func(r resource.Resource) resource.Resource { return r },
		notePath:   b.notePath,
		unlessJSON: func(err error) { b.unlessJSON = append(b.unlessJSON, err) },
	})
	if err != nil {
		return nil, err
	}
	after := append(before, read)
	for _, own := range after {
		inherited = withoutPath(inherited, own.Path)
	}
	if _, err := restapi.CompileResources(append(inherited, after...)); err != nil {
		return nil, parse.ErrorAt(head, err)
	}
	return after, nil
}

func withoutPath(all []resource.Resource, path string) (others []resource.Resource) {
	for _, r := range all {
		if strings.Trim(r.Path, "/") != strings.Trim(path, "/") {
			others = append(others, r)
		}
	}
	return others
}

// readErrors reads how the upstream reports errors.
func (b *block) readErrors() error {
	if err := parse.Once(b.Dispenser, b.Errors != nil); err != nil {
		return err
	}
	if b.NextArg() {
		return b.Errf("errors: unexpected argument '%s', expected a block", b.Val())
	}
	e := new(restapi.Dialect)
	b.Errors = e
	dialect := apierrors.Dialect{Expose: &e.Expose, UpstreamAuth: &e.UpstreamAuth, From: &e.From, FailWhen: &e.FailWhen, Charset: &e.Charset}
	for nesting := b.Nesting(); b.NextBlock(nesting); {
		if b.Val() == "fail_when" {
			b.conditions = append(b.conditions, b.Token())
		}
		if err := dialect.ReadWord(b.Dispenser, "errors"); err != nil {
			return err
		}
	}
	return nil
}

// checkConditions refuses a fail_when of `errors` that cannot hold for all resources.
func (b *block) checkConditions() error {
	sets := [][]resource.Resource{b.Resources}
	for i := range b.Versions {
		sets = append(sets, b.Versions[i].Resources)
	}
	for i, line := range b.conditions {
		for _, set := range sets {
			if err := resource.CheckShared(b.Errors.FailWhen[i], set); err != nil {
				return parse.ErrorAt(line, err)
			}
		}
	}
	return nil
}

// readOpenAPI reads that the API is described, and perhaps its title.
func (b *block) readOpenAPI() error {
	if err := parse.Once(b.Dispenser, b.OpenAPI != nil); err != nil {
		return err
	}
	b.OpenAPI = new(restapi.OpenAPI)
	words := b.RemainingArgs()
	if len(words) > 1 {
		return b.Errf("openapi: unexpected argument '%s', expected only a title, in quotes", words[1])
	}
	if len(words) == 1 {
		b.OpenAPI.Title = words[0]
	}
	return nil
}
