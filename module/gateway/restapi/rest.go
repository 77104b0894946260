package restapi

import (
	"log/slog"

	"github.com/caddyserver/caddy/v2"
	"github.com/caddyserver/caddy/v2/modules/caddyhttp"

	"github.com/gatehouse/gatehouse/module/internal/handler"
	"github.com/gatehouse/gatehouse/module/internal/metrics"
	"github.com/gatehouse/gatehouse/module/internal/rest/conditional"
	"github.com/gatehouse/gatehouse/module/internal/rest/exchange"
	"github.com/gatehouse/gatehouse/module/internal/rest/idempotent"
	"github.com/gatehouse/gatehouse/module/internal/rest/routes"
	"github.com/gatehouse/gatehouse/module/internal/rest/upstream"
	"github.com/gatehouse/gatehouse/module/internal/rest/version"
	"github.com/gatehouse/gatehouse/module/rest/envelope"
	"github.com/gatehouse/gatehouse/module/rest/job"
	"github.com/gatehouse/gatehouse/module/rest/login"
	"github.com/gatehouse/gatehouse/module/rest/resource"
)

func init() { caddy.RegisterModule(new(REST)) }

// REST is the handler of the directive `api_rest`: it declares resources and jobs, and translates between
// the conventions of a REST API and what the upstream speaks. Without resources requests
// pass as they are.
type REST struct {
	// The vendor in `application/vnd.<vendor>.v1+json`. Default: versions are in paths only.
	Vendor string `json:"vendor,omitempty"`
	// The routes that lead to the upstream. Default: the handler that comes next.
	Upstream caddyhttp.RouteList `json:"upstream,omitempty"`
	// The charset of the upstream's texts where they are not in UTF-8 and have no other label,
	// and of the forms, queries and paths that it is sent: a name of the WHATWG or IANA, such as
	// `iso-8859-1`. Default: texts that are in neither UTF-8 nor the charset of their label
	// cannot be read.
	Charset string `json:"charset,omitempty"`
	// The versions of the API. Default: it has none.
	Versions []Version `json:"versions,omitempty"`
	// The resources. Once there is one, what is not declared is 404.
	// Default: none, and requests pass to the upstream unchanged.
	Resources []resource.Resource `json:"resources,omitempty"`
	// Work that outlives its request. Default: none.
	Jobs []job.Config `json:"jobs,omitempty"`
	// How the upstream reports errors. Default: they are looked for in the usual places of JSON, HTML and plain text.
	Errors *Dialect `json:"errors,omitempty"`
	// Header fields of the upstream's answers that reach the client besides the usual ones, in
	// all resources: `X-WP-Total`, `X-WP-*` for all that begin so, or `*` for every field.
	// Default: none.
	HeaderDown []string `json:"header_down,omitempty"`
	// Header fields of the client's that reach the upstream only when they are named, in all
	// resources: `Cookie`. Default: none.
	HeaderUp []string `json:"header_up,omitempty"`
	// Parameters that the gateway sends with all requests for the upstream, of resources and jobs,
	// and no client can. Default: none.
	Fixed []resource.Fixed `json:"fixed,omitempty"`
	// How the gateway signs in to the upstream with an account of its own. Versions with an upstream
	// of their own have a `login` of their own. Default: it does not.
	Login *login.Config `json:"login,omitempty"`
	// The most bytes of a request's body that must be read before it is passed on. Others
	// stream. Default: 1 MiB.
	MaxBody int64 `json:"max_body,omitempty"`
	// What becomes of declared names that are against the conventions: `off`, `warn` (the
	// default) or `error`.
	Lint string `json:"lint,omitempty"`
	// `deny` (the default) answers 404 for what is not declared, `pass` lets it through
	// untouched.
	Undeclared string `json:"undeclared,omitempty"`
	// Answers `/openapi.json` with a description of the API, and `/openapi` with a page that
	// shows it, both below the version where there is one. Default: they are undeclared.
	OpenAPI *OpenAPI `json:"openapi,omitempty"`

	editions     []edition // one for each version
	plain        edition   // for requests that name none
	versions     *version.Set
	dialect      envelope.Config
	descriptions *descriptions   // nil: the API is not described
	jobs         *jobs           // nil: none are declared
	apis         upstream.Config // what all APIs have in common
	exchanger    *exchange.Exchanger
	once         *idempotent.Handler // nil: no resource declares idempotency
	tags         *conditional.Tags
	cursors      *cursors // nil: no list has any
	counts       map[resource.Kind]metrics.Counter
	answers      *handler.UpstreamAnswers
	metrics      metrics.Set
	log          *slog.Logger
	unresolved   bool // placeholders stay in what is sent: nothing leaves the process
	follows      int  // the most answers that make one list
}

// Version is a version of the API, with an upstream of its own.
type Version struct {
	version.Version
	// The routes that lead to its upstream. Default: those of the handler.
	Upstream caddyhttp.RouteList `json:"upstream,omitempty"`
	// How the gateway signs in to that upstream. It needs `upstream` in the version; sessions of
	// different upstreams are never mixed. Default: with an upstream of its own it does not.
	Login *login.Config `json:"login,omitempty"`
	// The charset of its texts. Default: with an upstream of its own none, otherwise that of the
	// handler.
	Charset string `json:"charset,omitempty"`
	// Resources that differ in this version, or are there in it alone. They take the place
	// of those with the same path. Default: none.
	Resources []resource.Resource `json:"resources,omitempty"`
}

// Dialect is how an upstream reports errors.
type Dialect struct {
	// Turns an upstream's own 401 and 403 into 502.
	UpstreamAuth bool `json:"upstream_auth,omitempty"`
	// Passes on the texts of 5xx errors.
	Expose bool `json:"expose,omitempty"`
	// Where its errors have their texts. Default: the usual places.
	From []envelope.From `json:"from,omitempty"`
	// The charset of its errors. Default: that of the resource, or of the handler.
	Charset string `json:"charset,omitempty"`
	// Which of its successes are failures. Default: none.
	FailWhen []envelope.FailWhen `json:"fail_when,omitempty"`
}

// edition is what serves a version.
type edition struct {
	table   *routes.Table
	route   route
	api     upstream.API  // what the gateway adds to requests
	account *login.Config // how the gateway signs in; nil: it does not
	keeper  string        // the key of its session in keepers
	// dialects are those of the operations: errors name members as clients do.
	dialects map[*routes.Operation]*envelope.Config
	strip    bool // the version is not in the paths of requests that pass
}

// CaddyModule returns the Caddy module information.
func (*REST) CaddyModule() caddy.ModuleInfo {
	return caddy.ModuleInfo{ID: "http.handlers.gatehouse_rest", New: func() caddy.Module { return new(REST) }}
}

// Interface guards
var (
	_ caddy.Provisioner           = (*REST)(nil)
	_ caddy.CleanerUpper          = (*REST)(nil)
	_ caddyhttp.MiddlewareHandler = (*REST)(nil)
)
