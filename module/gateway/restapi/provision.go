package restapi

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/caddyserver/caddy/v2"
	"github.com/caddyserver/caddy/v2/modules/caddyhttp"

	"github.com/gatehouse/gatehouse/module/internal/handler"
	"github.com/gatehouse/gatehouse/module/internal/metrics"
	"github.com/gatehouse/gatehouse/module/internal/rest/conditional"
	"github.com/gatehouse/gatehouse/module/internal/rest/exchange"
	"github.com/gatehouse/gatehouse/module/internal/rest/pages"
	"github.com/gatehouse/gatehouse/module/internal/rest/routes"
	"github.com/gatehouse/gatehouse/module/internal/rest/upstream"
	"github.com/gatehouse/gatehouse/module/internal/rest/version"
	"github.com/gatehouse/gatehouse/module/rest/envelope"
	"github.com/gatehouse/gatehouse/module/rest/login"
	"github.com/gatehouse/gatehouse/module/rest/resource"
)

const defaultMaxBody = 1 << 20

// Provision compiles what is declared. It dials nobody.
func (h *REST) Provision(ctx caddy.Context) (err error) {
	h.log = ctx.Slogger()
	h.answers = handler.NewUpstreamAnswers(h.log)
	from := h.fingerprint()
	h.follows = cmp.Or(h.follows, pages.MaxAnswers)
	if h.MaxBody == 0 {
		h.MaxBody = defaultMaxBody
	}
	if err := h.Check(); err != nil {
		return fmt.Errorf("api_rest: %w", err)
	}
	if err := metrics.Register(ctx.GetMetricsRegistry()); err != nil {
		return err
	}
	h.counts = make(map[resource.Kind]metrics.Counter, len(resource.Kinds))
	for _, k := range resource.Kinds {
		h.counts[k] = h.metrics.REST(string(k))
	}
	h.dialect.Observe = func(status int, kind envelope.Kind) { h.metrics.UpstreamError(status, string(kind)) }
	if h.dialect.Charset, err = h.Errors.errorCharset(h.Charset); err != nil {
		return fmt.Errorf("api_rest: %w", err)
	}
	if d := h.Errors; d != nil {
		h.dialect.UpstreamAuth, h.dialect.Expose, h.dialect.From, h.dialect.FailWhen = d.UpstreamAuth, d.Expose, d.From, d.FailWhen
		if err := h.dialect.Prepare(); err != nil {
			return fmt.Errorf("api_rest: errors: %w", err)
		}
	}
	h.exchanger = exchange.New(exchange.Config{Log: h.log, Untranslated: h.metrics.Untranslated, StatusOf: statusOf, Told: told})
	h.apis = upstream.Config{
		Replace: replacePlaceholders, KeepPlaceholders: h.unresolved, Unreadable: h.exchanger.Unreadable,
	}
	h.plain.api.Config = &h.apis
	if err := h.compile(ctx); err != nil {
		return err
	}
	if err := h.lint(); err != nil {
		return fmt.Errorf("api_rest: %w", err)
	}
	if !h.unresolved {
		h.warnOfMissingValues()
	}
	if err := h.provisionIdempotency(ctx); err != nil {
		return err
	}
	if err := h.takeCursors(ctx); err != nil {
		return err
	}
	h.tags = conditional.NewTags(h.tables())
	if err := h.describe(ctx); err != nil {
		return fmt.Errorf("api_rest: openapi: %w", err)
	}
	return h.takeJobs(ctx, from)
}

// Check reports what is wrong with the words and numbers; compiling finds the rest.
func (h *REST) Check() error {
	switch {
	case h.MaxBody < 0:
		return fmt.Errorf("max_body %d: expected a number of bytes", h.MaxBody)
	case !slices.Contains([]string{"", "off", "warn", "error"}, h.Lint):
		return fmt.Errorf("lint %s: expected off, warn or error", h.Lint)
	case !slices.Contains([]string{"", "deny", "pass"}, h.Undeclared):
		return fmt.Errorf("undeclared %s: expected deny or pass", h.Undeclared)
	case len(h.Jobs) > 0 && len(h.Upstream) == 0:
		return fmt.Errorf("a job needs an upstream of its own: expected `to`, since it runs when no request does")
	}
	return h.CheckHeaders()
}

func (h *REST) compile(ctx caddy.Context) (err error) {
	if h.plain.table, err = routes.New(inCharset(h.inherited(h.Resources, h.Login), h.Charset)); err != nil {
		return fmt.Errorf("api_rest: %w", err)
	}
	if err = h.plain.table.CheckIdle("", h.Errors.AsksForJSON()); err != nil {
		return fmt.Errorf("api_rest: %w", err)
	}
	if h.plain.dialects, err = h.speak(h.plain.table); err != nil {
		return fmt.Errorf("api_rest: %w", err)
	}
	from, err := json.Marshal(h.Upstream) // before its handlers are loaded out of it
	if err != nil {
		return fmt.Errorf("api_rest: to: %w", err)
	}
	if h.plain.route, h.plain.api.Reveals, err = newRoute(ctx, h.Upstream, supplies(h.Fixed, h.plain.table, h.Login)); err != nil {
		return fmt.Errorf("api_rest: to: %w", err)
	}
	h.plain.account = h.Login
	if h.plain.api.Login, h.plain.keeper, err = h.newSignIn(h.Login, h.plain.route, h.plain.api.Reveals, from); err != nil {
		return fmt.Errorf("api_rest: %w", err)
	}
	config := version.Config{Vendor: h.Vendor, Now: time.Now}
	for i := range h.Versions {
		v := &h.Versions[i]
		e := h.plain
		e.strip = v.StripPrefix
		name := h.Charset
		if len(v.Upstream) > 0 || v.Charset != "" {
			name = v.Charset
		}
		account := h.account(v)
		if len(v.Resources) > 0 || name != h.Charset || account != h.Login {
			if e.table, err = routes.New(inCharset(h.inherited(v.resources(h.Resources), account), name)); err != nil {
				return fmt.Errorf("api_rest: version %s: %w", v.Name, err)
			}
			if err = e.table.CheckIdle("", h.Errors.AsksForJSON()); err != nil {
				return fmt.Errorf("api_rest: version %s: %w", v.Name, err)
			}
			if e.dialects, err = h.speak(e.table); err != nil {
				return fmt.Errorf("api_rest: version %s: %w", v.Name, err)
			}
		}
		if len(v.Upstream) > 0 {
			if err := h.compileUpstream(ctx, &e, v); err != nil {
				return fmt.Errorf("api_rest: version %s: %w", v.Name, err)
			}
		}
		h.editions = append(h.editions, e)
		config.Versions = append(config.Versions, v.Version)
	}
	h.versions, err = version.New(config)
	if err != nil {
		return fmt.Errorf("api_rest: %w", err)
	}
	return nil
}

// compileUpstream compiles the upstream that a version has of its own: another API, with an
// account of its own if there is one.
func (h *REST) compileUpstream(ctx caddy.Context, e *edition, v *Version) error {
	from, err := json.Marshal(v.Upstream) // before its handlers are loaded out of it
	if err != nil {
		return fmt.Errorf("to: %w", err)
	}
	if e.route, e.api.Reveals, err = newRoute(ctx, v.Upstream, supplies(h.Fixed, e.table, v.Login)); err != nil {
		return fmt.Errorf("to: %w", err)
	}
	e.account = v.Login
	e.api.Login, e.keeper, err = h.newSignIn(v.Login, e.route, e.api.Reveals, from)
	return err
}

// speak prepares how failures of each operation are read.
func (h *REST) speak(t *routes.Table) (all map[*routes.Operation]*envelope.Config, err error) {
	all = make(map[*routes.Operation]*envelope.Config)
	for _, o := range t.Operations() {
		own := h.dialect
		if own.Charset, err = h.Errors.errorCharset(o.Resource.Charset); err != nil {
			return nil, fmt.Errorf("resource %s: %w", o.Resource.Path, err)
		}
		if all[o], err = o.Dialect(own); err != nil {
			return nil, fmt.Errorf("resource %s: %w", o.Resource.Path, err)
		}
	}
	return all, nil
}

// resources are those of all versions, with this one's in place of theirs.
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

// newRoute compiles routes once: what they lead to never changes. conceal says that the gateway
// adds header fields or parameters that the proxies in them should not log; reveals, that they
// do not and that they send what is concealed.
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
	return routes.Compile(caddyhttp.HandlerFunc(nowhere)), reveals, nil
}

// supplies reports whether the gateway adds parameters to requests of an edition: fixed ones, those
// of its operations, or those of an account.
func supplies(fixed []resource.Fixed, t *routes.Table, account *login.Config) bool {
	return account != nil || len(fixed) > 0 || slices.ContainsFunc(t.Operations(), func(o *routes.Operation) bool { return len(o.Requests.Supplied) > 0 })
}

// AsksForJSON reports whether a condition about all answers refuses what is not JSON.
func (d *Dialect) AsksForJSON() bool {
	return d != nil && slices.ContainsFunc(d.FailWhen, func(f envelope.FailWhen) bool { return f.NotJSON })
}
