package oauthguard

import (
	"cmp"
	"fmt"
	"log/slog"
	"net/http"
	"strings"

	"github.com/caddyserver/caddy/v2"
	"github.com/caddyserver/caddy/v2/modules/caddyhttp"

	"github.com/gatehouse/gatehouse/module/gateway"
	"github.com/gatehouse/gatehouse/module/guard"
	"github.com/gatehouse/gatehouse/module/internal/accesslog"
	"github.com/gatehouse/gatehouse/module/internal/handler"
	"github.com/gatehouse/gatehouse/module/internal/httpx"
	"github.com/gatehouse/gatehouse/module/internal/metrics"
	"github.com/gatehouse/gatehouse/module/internal/token"
	"github.com/gatehouse/gatehouse/module/oauth"
)

func init() { caddy.RegisterModule(new(Guard)) }

// Guard is the handler of the directive `oauth_guard`: it passes requests with a valid access token that has the
// scopes of their route, tells the upstream who the caller is, and refuses other requests
// according to RFC 6750.
//
// It sets these placeholders. They are empty until a token is accepted, even where a header
// directive in front of the guard uses them; and on routes without a guard that have `api_errors`,
// `api_limit` or `api_rest`.
//
// Placeholder | Description
// ------------|---------------
// `{http.auth.user.id}` | The subject: the user's id, or `client:` and the client's
// `{http.auth.user.client_id}` | The client
// `{http.auth.user.scope}` | The token's scopes, separated by spaces
// `{http.auth.user.name}` | The user's name as the directory has it now; empty for a client's own token, and while the directory does not answer
type Guard struct {
	// The policy, in order; the first rule that matches method and path decides. Without
	// rules any valid token passes.
	Rules []guard.Rule `json:"rules,omitempty"`
	// What happens to a request that no rule matches: `deny` (the default), or `token`
	// to let any valid token pass.
	Otherwise string `json:"otherwise,omitempty"`
	// The audience a token must have. Default: the first configured for tokens, else
	// the issuer.
	Audience string `json:"audience,omitempty"`
	// The realm of challenges. Default: the audience.
	Realm string `json:"realm,omitempty"`
	// Browser origins whose scripts may call; `*` alone for all. The guard then answers
	// preflights and sets the CORS headers of every answer. Default: none; preflights are
	// judged by the rules, so they are refused unless a rule permits OPTIONS.
	CORS []string `json:"cors,omitempty"`
	// Leaves CORS to the upstream. A preflight is passed on without query, cookies,
	// credentials and body, if a rule matches the path and the requested method, or
	// any valid token would pass; 100 in 10 seconds for one address. Excludes `cors`.
	CORSUpstream bool `json:"cors_upstream,omitempty"`
	// Names of the header fields that tell the upstream who the caller is.
	Headers guard.Headers `json:"headers,omitzero"`
	// Leaves the Authorization header in the request to the upstream.
	ForwardToken bool `json:"forward_token,omitempty"`
	// Accepts `%2F` in every path. Default: such paths are refused.
	AllowEncodedSlash bool `json:"allow_encoded_slash,omitempty"`
	// Passes every request and only logs and counts what would have been refused, for adding
	// a guard to an API in use. Identity headers are always removed from requests, and set if
	// the guard would have accepted the token; credentials that it would have refused go
	// upstream unchanged, and CORS is left to the upstream.
	Shadow bool `json:"shadow,omitempty"`
	// The guard only answers a server that takes every 2xx as permission, such as nginx with
	// `auth_request`. The guard itself never answers 2xx: the metadata of the resource is not
	// published, and requests for it are subject to the rules like any other.
	// Excludes `cors`, `cors_upstream` and `shadow`.
	DecisionOnly bool `json:"decision_only,omitempty"`

	app      *gateway.App
	guard    *guard.Guard
	identity *guard.Identity
	resource guard.ResourceMetadata // without a path: none
	routes   []string               // a name for each rule, for limits by route
	policy   guard.Config
	counts   map[guard.Reason]metrics.Counter
	refusals map[token.Refusal]metrics.Counter
	shadowed map[guard.Reason]metrics.Counter
	answers  *handler.UpstreamAnswers
	access   *accesslog.Log
	log      *slog.Logger
}

// CaddyModule returns the Caddy module information.
func (*Guard) CaddyModule() caddy.ModuleInfo {
	return caddy.ModuleInfo{ID: "http.handlers.gatehouse_guard", New: func() caddy.Module { return new(Guard) }}
}

// Provision builds the policy.
func (g *Guard) Provision(ctx caddy.Context) (err error) {
	if g.app, err = gateway.FindApp(ctx, "oauth_guard"); err != nil {
		return err
	}
	g.app.Servers().WarnWithoutAddress(ctx)
	g.log, g.access = ctx.Slogger(), accesslog.New(ctx)
	g.counts = metrics.ByName(guard.Reasons, metrics.Set{}.Guard)
	g.refusals = metrics.ByName(token.Refusals, metrics.Set{}.RefusedToken)
	if g.Shadow {
		g.shadowed = metrics.ByName(guard.Reasons, metrics.Set{}.Shadow)
		g.log.Warn("a guard is in shadow mode: it refuses nothing", "audience", g.Audience, "rules", len(g.Rules))
	}
	policy, err := g.Policy(g.app.GuardConfig())
	if err != nil {
		return err
	}
	for _, r := range g.Rules {
		if err := g.app.CheckScopes(r.Scopes, oauth.VariantBScopes...); err != nil {
			return fmt.Errorf("oauth_guard: %w", err)
		}
		g.routes = append(g.routes, strings.Join(r.Methods, ",")+" "+strings.Join(r.Paths, " "))
	}
	g.answers = handler.NewUpstreamAnswers(g.log, cmp.Or(policy.Realm, policy.Audience, policy.Issuer), policy.Issuer)
	g.describeResource(&policy)
	if g.Shadow {
		policy.Admit = nil // every request passes
	}
	if g.guard, err = guard.New(policy); err != nil {
		return err
	}
	g.policy = policy
	g.identity, err = guard.NewIdentity(g.Headers, g.ForwardToken)
	return err
}

// begin prepares a request for a decision, and holds the application until leave is called.
func (g *Guard) begin(w http.ResponseWriter, r *http.Request) (leave func(), err error) {
	r.Body = httpx.Unclosed(r)
	handler.CloseWhenExiting(w, r)
	handler.AddPlaceholders(r)
	handler.EmptyIdentityLiterals(r.Header)
	handler.EmptyIdentityLiterals(w.Header())
	return g.app.Hold()
}

// ServeHTTP decides, and passes or refuses the request.
func (g *Guard) ServeHTTP(w http.ResponseWriter, r *http.Request, next caddyhttp.Handler) (err error) {
	leave, err := g.begin(w, r)
	if err != nil {
		handler.LeaveBody(w, r)
		g.identity.Strip(r)
		keepFromCaches(w, r)
		return handler.Unavailable(w, err)
	}
	defer leave()
	if o := handler.Observe(g.app.Decisions(), w, r); o != nil {
		w = o.Writer
		defer func() { o.End(err) }()
	}
	if g.asksForMetadata(r) {
		g.publishMetadata(w, r)
		return nil
	}
	d := g.guard.Decide(r)
	g.observe(r, &d)
	if g.Shadow {
		return g.passShadow(w, r, &d, next)
	}
	cors := g.guard.CORS(r)
	g.counts[d.Reason].Inc()
	if d.Err != nil {
		g.log.Error("a token could not be judged", "error", d.Err)
	}
	g.reportRefusal(r, &d)
	if !d.Allowed {
		return g.refuse(w, r, &d, cors)
	}
	g.prepareRequest(r, &d)
	verified := d.Access != nil
	answer := g.answers.From(w, setFields(cors, verified))
	if d.Redact {
		err = g.passLeakedToken(answer, r, next)
	} else {
		err = next.ServeHTTP(answer, r)
	}
	answer.Finish()
	if err != nil {
		cors.Set(w.Header())
		if verified { // the error handlers know the caller
			keepFromCaches(w, r)
		}
	}
	return err
}

// keepFromCaches prepares the header for a `handle_errors` of the site, which may answer a refusal with a page that caches
// store. An api_errors in front says by itself that nothing is stored, but a deferred `header` may say otherwise.
func keepFromCaches(w http.ResponseWriter, r *http.Request) {
	if handler.Shaped(r) {
		guard.VaryByToken(w.Header())
		return
	}
	guard.KeepFromCaches(w.Header())
}

// setFields returns what the guard adds to the header of a response; verified says whether its request had a token.
func setFields(cors guard.CORS, verified bool) func(http.Header) {
	switch {
	case cors == (guard.CORS{}) && verified:
		return guard.VaryByToken
	case cors == (guard.CORS{}):
		return nil
	case !verified:
		return cors.Set
	}
	return func(h http.Header) {
		cors.Set(h)
		guard.VaryByToken(h)
	}
}

// refuse answers a request that does not pass, or leaves that to the site's error handlers. A `handle_errors` may send the
// request on to an API: it gets neither credentials nor the client's own identity fields.
func (g *Guard) refuse(w http.ResponseWriter, r *http.Request, d *guard.Decision, cors guard.CORS) error {
	handler.OwnAnswer(w)
	handler.LeaveBody(w, r)
	d.SetHeader(w.Header())
	cors.Set(w.Header())
	if d.Status == http.StatusNoContent {
		w.WriteHeader(d.Status)
		return nil
	}
	keepFromCaches(w, r)
	if d.Redact {
		g.access.WriteRefused(r, d.Status, w.Header())
	}
	g.identity.Strip(r)
	if (d.Redact || d.Reason == guard.Overloaded) && !handler.Shaped(r) {
		// Caddy's error log would show the address with the token in it, or a line for
		// every request under overload.
		w.WriteHeader(d.Status)
		return nil
	}
	return refusal(r, d)
}

// prepareRequest edits a request that passes, to what the upstream may see.
func (g *Guard) prepareRequest(r *http.Request, d *guard.Decision) {
	if !g.Shadow {
		handler.RecordGuard(r, g.guard)
	}
	if d.Path != "" {
		guard.SetPath(r.URL, d.Path)
	}
	g.identity.Strip(r)
	if d.Access != nil {
		g.identity.Apply(r, d.Access)
	}
	preflight := d.Reason == guard.Preflight
	if preflight && !g.Shadow {
		stripPreflight(r)
	}
	g.app.Identify(r, d.Access)
	handler.SetIdentityHeaders(r, g.identity)
	if d.Rule >= 0 && !preflight { // a route's limit must not be used up without a token
		handler.SetRoute(r, g.routes[d.Rule])
	}
}

// Interface guards
var (
	_ caddy.Provisioner           = (*Guard)(nil)
	_ caddyhttp.MiddlewareHandler = (*Guard)(nil)
)
