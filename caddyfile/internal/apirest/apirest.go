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
	b.table, _ = restapi.CompileResources()
	words := b.words()
	empty := true
	for h.NextBlock(0) {
		empty = false
		if err := words.Read(h.Dispenser, "api_rest"); err != nil {
			return nil, err
		}
	}
	if empty {
		return nil, parse.ErrorAt(head, errors.New("api_rest: expected a block with at least a resource, such as `resource articles`, or `to`"))
	}
	if len(b.declared) > 0 {
		b.Resources = resourcesOf(b.declared)
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
	declared []*declaration
	table    *restapi.Table    // of declared
	versions []*restapi.Table  // of each version
	readers  []*resourceReader // that no resource uses now
	// paths are the declared ones, in their order.
	paths []declaredPath
	// conditions are the lines of each fail_when of `errors`.
	conditions []caddyfile.Token
	// unlessJSON are errors unless the API's dialect refuses what is not JSON.
	unlessJSON []error
}

func (b *block) words() parse.Words {
	return parse.Words{
		"vendor":      parse.Once(&b.Vendor, readVendor),
		"to":          b.readUpstream(&b.Upstream, &b.Charset),
		"version":     b.readVersion,
		"resource":    b.addResource,
		"job":         b.readJob,
		"errors":      b.readErrors,
		"max_body":    parse.Once(&b.MaxBody, parse.Size),
		"lint":        parse.Once(&b.Lint, parse.Choice("off", "warn", "error")),
		"openapi":     parse.Once(&b.OpenAPI, readOpenAPI),
		"send":        readFixed(&b.Fixed),
		"login":       parse.Once(&b.Login, readLogin),
		"header_down": b.checkHeaders(parse.List(&b.HeaderDown, headerDownForm)),
		"header_up":   b.checkHeaders(parse.List(&b.HeaderUp, headerUpForm)),
		"undeclared":  parse.Once(&b.Undeclared, parse.Choice("deny", "pass")),
	}
}

func readVendor(d *caddyfile.Dispenser) (string, error) {
	name, err := parse.Text("a name such as acme")(d)
	if err == nil && !vendorName.MatchString(name) {
		err = d.Errf("vendor: invalid name '%s', expected lower case letters, digits and hyphens, such as acme", name)
	}
	return name, err
}

// declaration is a resource with its operations and its line.
type declaration struct {
	resource.Resource
	table *restapi.Table
	head  caddyfile.Token
}

// readDeclaration reads a resource. Only if something is wrong with it, it is read again and compiled after
// each word, to find the line of the error.
func (b *block) readDeclaration(d *caddyfile.Dispenser) (read *declaration, err error) {
	read = &declaration{head: d.Token()}
	ahead := *d
	if read.Resource, err = b.readResource(&ahead, surroundings{}); err == nil {
		read.table, err = restapi.CompileResources(read.Resource)
	}
	if err == nil && read.table.CheckIdle("", false) == nil {
		*d = ahead
		return read, nil
	}
	if read.Resource, err = b.readResource(d, surroundings{eachWord: true}); err == nil {
		read.table, err = restapi.CompileResources(read.Resource)
	}
	return read, err
}

// addResource reads a resource of all versions.
func (b *block) addResource(d *caddyfile.Dispenser) error {
	read, err := b.readDeclaration(d)
	if err != nil {
		return err
	}
	b.declared = append(b.declared, read)
	return mergeDeclarations(b.table, b.declared)
}

// resourcesOf returns what was declared.
func resourcesOf(declared []*declaration) []resource.Resource {
	all := make([]resource.Resource, len(declared))
	for i, r := range declared {
		all[i] = r.Resource
	}
	return all
}

// mergeDeclarations adds the last resource to the table of those before it.
func mergeDeclarations(table *restapi.Table, all []*declaration) error {
	read := all[len(all)-1]
	err := table.Merge(read.table)
	if err == nil {
		return nil
	}
	if _, why := restapi.CompileResources(resourcesOf(all)...); why != nil {
		err = why // it names the line of the resource
	}
	return parse.ErrorAt(read.head, err)
}

// checkVersion checks the resources of a version together with those that it does not replace.
func (b *block) checkVersion(own []*declaration) error {
	replaced := make(map[string]bool)
	for _, r := range own {
		replaced[strings.Trim(r.Path, "/")] = true
	}
	table, _ := restapi.CompileResources()
	var all []*declaration
	add := func(r *declaration) error {
		all = append(all, r)
		return mergeDeclarations(table, all)
	}
	for _, r := range b.declared {
		if !replaced[strings.Trim(r.Path, "/")] {
			if err := add(r); err != nil {
				return err
			}
		}
	}
	for _, r := range own {
		if err := add(r); err != nil {
			return err
		}
	}
	b.versions = append(b.versions, table)
	return nil
}

// samePath reports whether two paths differ in slashes at their ends at most.
func samePath(a, b string) bool { return strings.Trim(a, "/") == strings.Trim(b, "/") }

// readErrors reads how the upstream reports errors.
func (b *block) readErrors(d *caddyfile.Dispenser) error {
	if err := parse.CheckOnce(d, b.Errors != nil); err != nil {
		return err
	}
	if d.NextArg() {
		return d.Errf("errors: unexpected argument '%s', expected a block", d.Val())
	}
	e := new(restapi.Dialect)
	b.Errors = e
	words := apierrors.Dialect(&e.Expose, &e.UpstreamAuth, &e.From, &e.FailWhen, &e.Charset)
	for nesting := d.Nesting(); d.NextBlock(nesting); {
		if d.Val() == "fail_when" {
			b.conditions = append(b.conditions, d.Token())
		}
		if err := words.Read(d, "errors"); err != nil {
			return err
		}
	}
	return nil
}

// checkConditions refuses a fail_when of `errors` that cannot hold for all resources.
func (b *block) checkConditions() error {
	for i, line := range b.conditions {
		for _, resources := range b.Declared() {
			for r := range resource.All(resources) {
				if err := r.CheckCondition(b.Errors.FailWhen[i]); err != nil {
					return parse.ErrorAt(line, fmt.Errorf("resource %s: %w", r.Path, err))
				}
			}
		}
	}
	return nil
}

// readOpenAPI reads that the API is described, and perhaps its title.
func readOpenAPI(d *caddyfile.Dispenser) (*restapi.OpenAPI, error) {
	described, words := new(restapi.OpenAPI), d.RemainingArgs()
	if len(words) > 1 {
		return nil, d.Errf("openapi: unexpected argument '%s', expected only a title, in quotes", words[1])
	}
	if len(words) == 1 {
		described.Title = words[0]
	}
	return described, nil
}
