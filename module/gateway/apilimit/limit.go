package apilimit

import (
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"slices"
	"sync"

	"github.com/caddyserver/caddy/v2"
	"github.com/caddyserver/caddy/v2/modules/caddyhttp"

	"github.com/gatehouse/gatehouse/module/gateway"
	"github.com/gatehouse/gatehouse/module/guard"
	"github.com/gatehouse/gatehouse/module/internal/handler"
	"github.com/gatehouse/gatehouse/module/internal/httpx"
	"github.com/gatehouse/gatehouse/module/internal/metrics"
	"github.com/gatehouse/gatehouse/module/internal/rest/responsewriter"
	"github.com/gatehouse/gatehouse/module/ratelimit"
)

func init() { caddy.RegisterModule(new(Limit)) }

// Limit is the handler of the directive `api_limit`: in any window of the configured length it admits no more
// requests of a caller than the limit, and a refused request consumes nothing.
// Every response behind it has X-RateLimit-Limit, -Remaining and -Reset (epoch
// seconds). Counts are kept where the app's `limiter` says, and survive a reload.
//
// It sets placeholders about the policy that the client is told of, empty where nothing is known:
//
// Placeholder | Description
// ------------|---------------
// `{http.api_limit.policy}` | The name of the policy
// `{http.api_limit.by}` | What it counts by: `client`, `user`, `ip`, `route`, `all`, or `custom`
// `{http.api_limit.limit}` | Units of cost allowed in a window
// `{http.api_limit.remaining}` | Units that are left
// `{http.api_limit.reset}` | When at least one more is available, in epoch seconds
// `{http.api_limit.retry_after}` | After how many seconds a refused request fits, empty if never
// `{http.api_limit.result}` | `admitted` or `refused`, with the prefix `outage_` while the counts were unreachable, or `unavailable`
//
// A request that is refused emits the event `gatehouse_limit_exceeded`.
type Limit struct {
	// A request must fit into all policies that apply to it. At least one is required.
	Policies []Policy `json:"policies,omitempty"`
	// What requests cost; the first match counts, other requests cost 1. Default: all cost 1.
	Costs []Cost `json:"costs,omitempty"`
	// Client ids, addresses and address ranges that are not limited. Default: nobody is exempt.
	Exempt []string `json:"exempt,omitempty"`
	// `x` for X-RateLimit-* (the default), `ietf` for RateLimit and RateLimit-Policy, or
	// `both`.
	Headers string `json:"headers,omitempty"`
	// Handlers with the same limiter name count together. Default: `default`.
	Limiter string `json:"limiter,omitempty"`
	// What happens to requests while a remote limiter is unreachable: `local` counts in
	// this process, up to a part of the limit so small that all nodes together stay within
	// it; `open` admits all of them; `closed` answers 503. Default: `local`.
	OnOutage string `json:"on_outage,omitempty"`
	// Where the handler is configured, such as `Caddyfile:23`, for errors about its order. The
	// Caddyfile sets it where a policy needs a guard. Default: unknown.
	Source string `json:"source,omitempty"`

	ctx      caddy.Context
	app      *gateway.App
	policies []ratelimit.Policy
	costs    guard.Routes
	clients  map[string]bool
	ranges   prefixSet
	style    ratelimit.Style
	outage   ratelimit.Outage
	scratch  sync.Pool
	log      *slog.Logger

	firstRequest sync.Once

	counts     []counters // for each policy, when it was reported
	unreported counters
	metrics    metrics.Set
}

// scratch is reused between requests.
type scratch struct {
	charges [ratelimit.MaxCharges]ratelimit.Charge
	results [ratelimit.MaxCharges]ratelimit.Result
}

// CaddyModule returns the Caddy module information.
func (*Limit) CaddyModule() caddy.ModuleInfo {
	return caddy.ModuleInfo{ID: "http.handlers.gatehouse_limit", New: func() caddy.Module { return new(Limit) }}
}

// Provision checks the policies.
func (l *Limit) Provision(ctx caddy.Context) (err error) {
	if l.app, err = gateway.FindApp(ctx, "api_limit"); err != nil {
		return err
	}
	l.ctx, l.log = ctx, ctx.Slogger()
	if len(l.Policies) == 0 || len(l.Policies) > ratelimit.MaxCharges {
		return fmt.Errorf("api_limit: expected 1 to %d policies, got %d", ratelimit.MaxCharges, len(l.Policies))
	}
	for i, p := range l.Policies {
		if slices.ContainsFunc(l.Policies[:i], func(o Policy) bool { return o.Name == p.Name }) {
			return fmt.Errorf("api_limit: policy %s is given twice", p.Name)
		}
		built, err := p.build(l.Limiter)
		if err != nil {
			return fmt.Errorf("api_limit: %w", err)
		}
		l.policies = append(l.policies, built)
		l.counts = append(l.counts, newCounters(p.Name))
	}
	if slices.ContainsFunc(l.Policies, func(p Policy) bool { return p.By == "ip" }) {
		l.app.Servers().WarnWithoutAddress(ctx)
	}
	together := make([]ratelimit.Counted, len(l.policies))
	for i := range l.policies {
		together[i] = ratelimit.Counted{Policy: &l.policies[i], By: l.Policies[i].By, Common: l.Policies[i].common()}
	}
	l.app.CountTogether(together)
	if err := l.app.Servers().CheckLimitOrder(ctx); err != nil {
		return err
	}
	l.unreported = newCounters(unreportedLabel)
	for _, c := range l.Costs {
		if c.Units < 1 {
			return errors.New("api_limit: a cost must be at least 1")
		}
		if err := l.costs.Add(c.Methods, c.Paths); err != nil {
			return fmt.Errorf("api_limit: cost: %w", err)
		}
	}
	if err := l.buildExempt(l.app.UnknownClient); err != nil {
		return err
	}
	l.scratch.New = func() any { return new(scratch) }
	if l.style, err = ratelimit.ParseStyle(l.Headers); err != nil {
		return err
	}
	return l.provisionOutage()
}

// ServeHTTP decides on the request and tells the client how much is left.
func (l *Limit) ServeHTTP(w http.ResponseWriter, r *http.Request, next caddyhttp.Handler) (err error) {
	r.Body = httpx.Unclosed(r)
	handler.AddPlaceholders(r)
	handler.CloseWhenExiting(w, r)
	httpx.KeepHTTP(r.Header) // requests on a connection upgraded to HTTP/2 would not be counted
	if httpx.IsEarly(r) {    // whoever repeats it would use up the limit of its client
		handler.LeaveBody(w, r)
		return handler.Error(r, http.StatusTooEarly, &handler.Failure{Code: "too_early", Message: httpx.TooEarly})
	}
	leave, err := l.app.Hold()
	if err != nil {
		handler.LeaveBody(w, r)
		return handler.Unavailable(w, err)
	}
	defer leave()
	if o := handler.Observe(l.app.Decisions(), w, r); o != nil {
		w = o.Writer
		defer func() { o.End(err) }()
	}
	access := handler.Caller(r)
	l.firstRequest.Do(func() { l.warnWithoutGuard(r) })
	if l.exempt(r, access) {
		return next.ServeHTTP(w, r)
	}
	s, ok := l.scratch.Get().(*scratch)
	if !ok {
		s = new(scratch)
	}
	charges := l.charges(s.charges[:0], r, access)
	if len(charges) == 0 {
		l.scratch.Put(s)
		return next.ServeHTTP(w, r)
	}
	cost := l.cost(r)
	verdict, err := l.app.Limiter().Decide(r.Context(), ratelimit.Request{
		Charges: charges, Cost: cost, Results: s.results[:0], OnOutage: l.outage,
	})
	if err != nil {
		l.scratch.Put(s)
		handler.LeaveBody(w, r)
		return l.unavailable(w, r, err)
	}
	reported, admitted := verdict.Reported(), verdict.Admitted
	l.countDecision(verdict, reported)
	d := &decision{limit: l, policy: reported.Policy, fields: ratelimit.NewFields(l.style, verdict), result: resultOf(verdict)}
	l.scratch.Put(s)
	if !admitted {
		handler.LeaveBody(w, r)
		return l.refuse(w, r, d)
	}
	d.recordAdmission(r, cost)
	err = next.ServeHTTP(responsewriter.OnHeader(w, d.set), r)
	if err != nil && !refusedBehind(err, w.Header()) {
		d.set(w.Header())
	}
	return err
}

// provisionOutage parses OnOutage. Where an outage refuses requests, the node is not ready.
func (l *Limit) provisionOutage() (err error) {
	if l.outage, err = ratelimit.ParseOutage(l.OnOutage); err != nil {
		return fmt.Errorf("api_limit: %w", err)
	}
	if l.outage == ratelimit.OutageClosed {
		l.app.FailsWithLimiter()
	}
	return nil
}

// Interface guards
var (
	_ caddy.Provisioner           = (*Limit)(nil)
	_ caddyhttp.MiddlewareHandler = (*Limit)(nil)
)
