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
	"github.com/gatehouse/gatehouse/module/rest/charset"
	"github.com/gatehouse/gatehouse/module/rest/envelope"
	"github.com/gatehouse/gatehouse/module/rest/job"
	"github.com/gatehouse/gatehouse/module/rest/login"
	"github.com/gatehouse/gatehouse/module/rest/resource"
)

func init() { caddy.RegisterModule(new(REST)) }

// REST is the handler of the directive `api_rest`. It declares resources and jobs, and translates
// between the conventions of a REST API and what the upstream speaks. Without resources, requests pass
// unchanged.
type REST struct {
	// The vendor in `application/vnd.<vendor>.v1+json`. Default: versions are in paths only.
	Vendor string `json:"vendor,omitempty"`
	// The routes to the upstream. Default: the next handler.
	Upstream caddyhttp.RouteList `json:"upstream,omitempty"`
	// The charset of the upstream's texts if they are not UTF-8 and not labelled, and of the forms,
	// queries and paths that it is sent: a WHATWG or IANA name such as `iso-8859-1`. Default: texts
	// that are neither UTF-8 nor in the charset of their label are errors.
	Charset string `json:"charset,omitempty"`
	// The versions of the API. Default: the API has no versions.
	Versions []Version `json:"versions,omitempty"`
	// The resources. If there are any, undeclared paths are 404. Default: none, and requests pass to
	// the upstream unchanged.
	Resources []resource.Resource `json:"resources,omitempty"`
	// Work that continues after its request has been answered. Default: none.
	Jobs []job.Config `json:"jobs,omitempty"`
	// How the upstream reports errors. Default: the usual places of JSON, HTML and plain text are
	// searched.
	Errors *Dialect `json:"errors,omitempty"`
	// Header fields of the upstream's responses that reach clients in addition to the standard ones,
	// for all resources: `X-WP-Total`, `X-WP-*` for all with that prefix, or `*` for all. Default:
	// none.
	HeaderDown []string `json:"header_down,omitempty"`
	// Header fields of requests that reach the upstream only if they are named here, for all
	// resources: `Cookie`. Default: none.
	HeaderUp []string `json:"header_up,omitempty"`
	// Parameters that the gateway adds to all requests for the upstream, of resources and jobs, and
	// that clients cannot send. Default: none.
	Fixed []resource.Fixed `json:"fixed,omitempty"`
	// How the gateway signs in to the upstream with its own account. A version with its own `upstream`
	// has its own `login`. Default: it does not sign in.
	Login *login.Config `json:"login,omitempty"`
	// The maximum size in bytes of a request body that must be read before it is passed on. Other
	// bodies are streamed. Default: 1 MiB.
	MaxBody int64 `json:"max_body,omitempty"`
	// What to do about declared names that break the conventions: `off`, `warn` or `error`. Default:
	// `warn`.
	Lint string `json:"lint,omitempty"`
	// What to do with requests that are not declared: `deny` responds with 404, `pass` passes them
	// unchanged. Default: `deny`.
	Undeclared string `json:"undeclared,omitempty"`
	// Serves a description of the API at `/openapi.json` and a page that shows it at `/openapi`, both
	// below the version if there is one. Default: these paths are undeclared.
	OpenAPI *OpenAPI `json:"openapi,omitempty"`

	editions     []edition // one for each version
	plain        edition   // for requests that name none
	versions     *version.Set
	versionRoots []string // the paths that name the versions, such as "/v1"
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

// Version is a version of the API. It can have its own upstream.
type Version struct {
	version.Version
	// The routes to its upstream. Default: those of the handler.
	Upstream caddyhttp.RouteList `json:"upstream,omitempty"`
	// How the gateway signs in to that upstream. It requires `upstream`; sessions of different
	// upstreams are never mixed. Default: that of the handler, or none if the version has its own
	// upstream.
	Login *login.Config `json:"login,omitempty"`
	// The charset of its texts. Default: that of the handler, or UTF-8 if the version has its own
	// upstream.
	Charset string `json:"charset,omitempty"`
	// Resources that differ in this version or exist only in it. They replace resources with the same
	// path. Default: none.
	Resources []resource.Resource `json:"resources,omitempty"`
}

// Dialect is how an upstream reports errors.
type Dialect struct {
	// Turns an upstream's own 401 and 403 into 502.
	UpstreamAuth bool `json:"upstream_auth,omitempty"`
	// Passes on the texts of 5xx errors to clients.
	Expose bool `json:"expose,omitempty"`
	// Where its errors contain their texts. Default: the usual places.
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
	charset  *charset.Charset // of the API; nil: UTF-8, or not declared
	strip    bool             // the version is not in the paths of requests that pass
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
