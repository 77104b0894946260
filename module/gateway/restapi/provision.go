package restapi

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/caddyserver/caddy/v2"
	"github.com/caddyserver/caddy/v2/modules/caddyhttp"

	"github.com/gatehouse/gatehouse/module/internal/handler"
	"github.com/gatehouse/gatehouse/module/internal/metrics"
	"github.com/gatehouse/gatehouse/module/internal/rest/conditional"
	"github.com/gatehouse/gatehouse/module/internal/rest/cursorpages"
	"github.com/gatehouse/gatehouse/module/internal/rest/exchange"
	"github.com/gatehouse/gatehouse/module/internal/rest/routes"
	"github.com/gatehouse/gatehouse/module/internal/rest/upstream"
	"github.com/gatehouse/gatehouse/module/internal/rest/version"
	"github.com/gatehouse/gatehouse/module/rest/envelope"
	"github.com/gatehouse/gatehouse/module/rest/login"
	"github.com/gatehouse/gatehouse/module/rest/resource"
)

const defaultMaxBody = 1 << 20

// Provision compiles what is declared. It opens no connections.
func (h *REST) Provision(ctx caddy.Context) error {
	if err := h.provision(ctx); err != nil {
		return fmt.Errorf("api_rest: %w", err)
	}
	return nil
}

func (h *REST) provision(ctx caddy.Context) error {
	h.log = ctx.Slogger()
	h.answers = handler.NewUpstreamAnswers(h.log)
	digest := h.configDigest() // before guest modules are loaded out of the configuration
	h.follows = cmp.Or(h.follows, cursorpages.MaxAnswers)
	h.MaxBody = cmp.Or(h.MaxBody, defaultMaxBody)
	if err := h.Check(); err != nil {
		return err
	}
	if err := metrics.Register(ctx.GetMetricsRegistry()); err != nil {
		return err
	}
	h.counts = make(map[resource.Kind]metrics.Counter, len(resource.Kinds))
	for _, k := range resource.Kinds {
		h.counts[k] = h.metrics.REST(string(k))
	}
	if err := h.prepareDialect(); err != nil {
		return err
	}
	h.exchanger = exchange.New(exchange.Config{Log: h.log, Untranslated: h.metrics.Untranslated, StatusOf: statusOf, Told: told})
	h.apis = upstream.Config{Replace: replacePlaceholders, KeepPlaceholders: h.unresolved, Unreadable: h.exchanger.Unreadable}
	h.plain.api.Config = &h.apis
	for _, step := range []func(caddy.Context) error{h.compile, h.reportNames, h.provisionIdempotency, h.provisionCursors, h.provisionOpenAPI} {
		if err := step(ctx); err != nil {
			return err
		}
	}
	if !h.unresolved {
		h.warnOfMissingValues()
	}
	keys, err := keysOfTags(ctx, h.tables())
	if err != nil {
		return err
	}
	h.tags = conditional.NewTags(h.tables(), h.MaxBody, keys)
	return h.provisionJobs(ctx, digest)
}

// Check reports errors in the words and numbers; compiling finds the rest.
func (h *REST) Check() error {
	switch {
	case h.MaxBody < 0:
		return fmt.Errorf("max_body %d: expected a number of bytes", h.MaxBody)
	case !slices.Contains([]string{"", "off", "warn", "error"}, h.Lint):
		return fmt.Errorf("lint %s: expected off, warn or error", h.Lint)
	case !slices.Contains([]string{"", "deny", "pass"}, h.Undeclared):
		return fmt.Errorf("undeclared %s: expected deny or pass", h.Undeclared)
	case len(h.Jobs) > 0 && len(h.Upstream) == 0:
		return errors.New("a job needs an upstream of its own: expected `to`, since it runs when no request does")
	}
	return h.CheckHeaders()
}

// prepareDialect compiles how the upstream reports errors.
func (h *REST) prepareDialect() (err error) {
	h.dialect.Observe = func(status int, kind envelope.Kind) { h.metrics.UpstreamError(status, string(kind)) }
	if h.dialect.Charset, err = h.Errors.errorCharset(h.Charset); err != nil || h.Errors == nil {
		return err
	}
	d := h.Errors
	h.dialect.UpstreamAuth, h.dialect.Expose, h.dialect.From, h.dialect.FailWhen = d.UpstreamAuth, d.Expose, d.From, d.FailWhen
	if err := h.dialect.Prepare(); err != nil {
		return fmt.Errorf("errors: %w", err)
	}
	return nil
}

// compile builds the editions: one for requests that name no version, and one for each version.
func (h *REST) compile(ctx caddy.Context) (err error) {
	if err = h.compileResources(&h.plain, h.Resources, h.Login, h.Charset); err != nil {
		return err
	}
	if err = h.compileUpstream(ctx, &h.plain, h.Upstream, h.Login); err != nil {
		return err
	}
	config := version.Config{Vendor: h.Vendor, Now: time.Now}
	for i := range h.Versions {
		v := &h.Versions[i]
		e, err := h.newEdition(ctx, v)
		if err != nil {
			return fmt.Errorf("version %s: %w", v.Name, err)
		}
		h.editions = append(h.editions, e)
		config.Versions = append(config.Versions, v.Version)
		h.versionRoots = append(h.versionRoots, "/"+v.Name)
	}
	h.versions, err = version.New(config)
	return err
}

// newEdition returns the edition of a version, which shares with the plain one what the version
// does not declare itself.
func (h *REST) newEdition(ctx caddy.Context, v *Version) (edition, error) {
	e := h.plain
	e.strip = v.StripPrefix
	name := h.Charset
	if len(v.Upstream) > 0 || v.Charset != "" {
		name = v.Charset
	}
	account := v.account(h.Login)
	if len(v.Resources) > 0 || name != h.Charset || account != h.Login {
		if err := h.compileResources(&e, v.resources(h.Resources), account, name); err != nil {
			return e, err
		}
	}
	if len(v.Upstream) == 0 {
		return e, nil
	}
	err := h.compileUpstream(ctx, &e, v.Upstream, v.Login)
	return e, err
}

// compileResources compiles the resources of an edition, and how errors of each operation are read.
func (h *REST) compileResources(e *edition, resources []resource.Resource, account *login.Config, charsetName string) (err error) {
	if e.charset, err = findCharset(charsetName); err != nil {
		return err
	}
	if e.table, err = routes.New(h.withDefaults(resources, account, charsetName)); err != nil {
		return err
	}
	if err = e.table.CheckIdle("", h.Errors.AsksForJSON()); err != nil {
		return err
	}
	e.dialects = make(map[*routes.Operation]*envelope.Config)
	for _, o := range e.table.Operations() {
		own := h.dialect
		if own.Charset, err = h.Errors.errorCharset(o.Resource.Charset); err == nil {
			e.dialects[o], err = o.Dialect(own)
		}
		if err != nil {
			return fmt.Errorf("resource %s: %w", o.Resource.Path, err)
		}
	}
	return nil
}

// compileUpstream compiles the routes to the API of an edition, and the gateway's account there.
func (h *REST) compileUpstream(ctx caddy.Context, e *edition, to caddyhttp.RouteList, account *login.Config) error {
	declared, err := json.Marshal(to) // before its handlers are loaded out of it
	if err != nil {
		return fmt.Errorf("to: %w", err)
	}
	if e.route, e.api.Reveals, err = newRoute(ctx, to, addsParameters(h.Fixed, e.table, account)); err != nil {
		return fmt.Errorf("to: %w", err)
	}
	e.account = account
	e.api.Login, e.keeper, err = h.newSignIn(account, e.route, e.api.Reveals, declared)
	return err
}

// resources returns the resources of a version: its own, and the handler's with other paths.
func (v *Version) resources(shared []resource.Resource) []resource.Resource {
	all := slices.Clone(v.Resources)
	for _, r := range shared {
		if !slices.ContainsFunc(v.Resources, func(own resource.Resource) bool {
			return strings.Trim(own.Path, "/") == strings.Trim(r.Path, "/")
		}) {
			all = append(all, r)
		}
	}
	return all
}

// newRoute compiles routes. conceal says that the gateway adds header fields or parameters that the
// proxies in them should not log; reveals, that the proxies conceal these and send them.
func newRoute(ctx caddy.Context, routes caddyhttp.RouteList, conceal bool) (to route, reveals bool, err error) {
	if len(routes) == 0 {
		return nil, false, nil
	}
	if conceal {
		routes, reveals = concealInRoutes(routes)
	}
	if err := routes.Provision(ctx); err != nil {
		return nil, false, err
	}
	return routes.Compile(caddyhttp.HandlerFunc(noRoute)), reveals, nil
}

// addsParameters reports whether the gateway adds parameters to requests: fixed ones, those of
// operations, or those of an account.
func addsParameters(fixed []resource.Fixed, t *routes.Table, account *login.Config) bool {
	return account != nil || len(fixed) > 0 || slices.ContainsFunc(t.Operations(), func(o *routes.Operation) bool { return len(o.Requests.Supplied) > 0 })
}

// AsksForJSON reports whether a condition on all answers refuses what is not JSON.
func (d *Dialect) AsksForJSON() bool {
	return d != nil && slices.ContainsFunc(d.FailWhen, func(f envelope.FailWhen) bool { return f.NotJSON })
}

// Table has the operations of declared resources.
type Table = routes.Table

// CompileResources checks declared resources and compiles them to their operations.
func CompileResources(all ...resource.Resource) (*Table, error) { return routes.New(all) }

// ItemPath returns the conventional path of an item of a resource. paths are those of the resources that it
// is nested in, from the outermost one, and its own.
func ItemPath(paths ...string) (string, error) { return routes.ItemPath(paths...) }

// tables returns the operations of all editions.
func (h *REST) tables() []*routes.Table {
	tables := []*routes.Table{h.plain.table}
	for _, e := range h.editions {
		tables = append(tables, e.table)
	}
	return tables
}

// anyResource reports whether the predicate is true of a declared resource.
func anyResource(tables []*routes.Table, is func(*resource.Resource) bool) bool {
	return slices.ContainsFunc(tables, func(t *routes.Table) bool {
		return slices.ContainsFunc(t.Operations(), func(o *routes.Operation) bool { return is(o.Resource) })
	})
}
