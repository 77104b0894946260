package gateway

import (
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/netip"
	"net/url"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/caddyserver/caddy/v2"
	"github.com/caddyserver/caddy/v2/modules/caddyhttp"

	"github.com/gatehouse/gatehouse/module/guard"
	"github.com/gatehouse/gatehouse/module/internal/handler"
	"github.com/gatehouse/gatehouse/module/internal/httpx"
	"github.com/gatehouse/gatehouse/module/internal/metrics"
	"github.com/gatehouse/gatehouse/module/internal/rest/responsewriter"
	"github.com/gatehouse/gatehouse/module/internal/token"
	"github.com/gatehouse/gatehouse/module/ratelimit"
)

func init() { caddy.RegisterModule(new(Limit)) }

// Limit is the handler `api_limit`: in any window of the stated length no caller is
// admitted more often than the limit says, and a refused request consumes nothing.
// Every response behind it carries X-RateLimit-Limit, -Remaining and -Reset (epoch
// seconds). Counts are kept where the app's `limiter` says, and survive a reload.
type Limit struct {
	// Policies; a request must fit into all that apply to it.
	Policies []Policy `json:"policies,omitempty"`
	// What requests cost, first match; others cost 1.
	Costs []Cost `json:"costs,omitempty"`
	// Client ids, addresses and address ranges that are not limited.
	Exempt []string `json:"exempt,omitempty"`
	// `x` for X-RateLimit-* (the default), `ietf` for RateLimit and RateLimit-Policy, or
	// `both`.
	Headers string `json:"headers,omitempty"`
	// Handlers with the same limiter name count together. Default: `default`.
	Limiter string `json:"limiter,omitempty"`
	// What becomes of requests while a limiter elsewhere is out of reach: `local` counts in
	// this process, for so small a part of the limit that all nodes together stay within
	// it; `open` admits all of them; `closed` answers 503. Default: `local`.
	OnOutage string `json:"on_outage,omitempty"`
	// Where the handler is written, such as `Caddyfile:23`, for errors about its place among
	// other handlers. The Caddyfile sets it where a policy needs a guard. Default: unknown.
	Source string `json:"source,omitempty"`

	app      *App
	policies []ratelimit.Policy
	costs    []cost
	clients  map[string]bool
	ranges   []netip.Prefix
	style    ratelimit.Style
	outage   ratelimit.Outage
	scratch  sync.Pool
	order    orderWarning
	log      *slog.Logger

	counts     []decisions // for each policy, when it was reported
	unreported decisions
	metrics    metrics.Set
}

// Policy is one limit.
type Policy struct {
	// Names the policy to clients and operators: letters, digits, `_`, `-`, `.`.
	Name string `json:"name"`
	// Whom it counts: `client`, `user`, `ip` (IPv6 by /64), `route` (the guard's rule),
	// `all`, or a text with a placeholder. It does not apply where this is empty.
	By string `json:"by"`
	// Units of cost allowed in a window.
	Limit int64 `json:"limit"`
	// The length of the window, at least one second.
	Window caddy.Duration `json:"window"`
	// Counts and never refuses.
	DryRun bool `json:"dry_run,omitempty"`
}

// policyKinds are whom a policy can count without a placeholder.
var policyKinds = []string{"client", "user", "ip", "route", "all"}

// Check reports what is wrong with the policy.
func (p Policy) Check() error {
	if !slices.Contains(policyKinds, p.By) && !Placeholder(p.By) { // misspelt, it would count everybody together, or nobody
		return fmt.Errorf("rate limit policy %s: by %q: expected %s or a text with a placeholder", p.Name, p.By, strings.Join(policyKinds, ", "))
	}
	built := p.build("")
	return built.Check()
}

func (p Policy) build(limiter string) ratelimit.Policy {
	if limiter == "default" {
		limiter = ""
	}
	return ratelimit.Policy{Limiter: limiter, Name: p.Name, Limit: p.Limit, Window: time.Duration(p.Window), DryRun: p.DryRun, Chosen: p.chosen()}
}

// Cost says what some requests cost.
type Cost struct {
	// Units, from 1.
	Units int64 `json:"units"`
	// Methods in capitals. Default: every method.
	Methods []string `json:"methods,omitempty"`
	// Paths, as in a guard's rules.
	Paths []string `json:"paths"`
}

type cost struct {
	units int64
	match *guard.Route
}

// scratch is reused between requests.
type scratch struct {
	charges [ratelimit.MaxCharges]ratelimit.Charge
	results [ratelimit.MaxCharges]ratelimit.Result
}

// CaddyModule returns the Caddy module information.
func (*Limit) CaddyModule() caddy.ModuleInfo {
	return caddy.ModuleInfo{ID: "http.handlers.api_limit", New: func() caddy.Module { return new(Limit) }}
}

// Provision checks the policies.
func (l *Limit) Provision(ctx caddy.Context) (err error) {
	if l.app, err = FindApp(ctx, "api_limit"); err != nil {
		return err
	}
	l.log = ctx.Slogger()
	if len(l.Policies) == 0 || len(l.Policies) > ratelimit.MaxCharges {
		return fmt.Errorf("api_limit: expected 1 to %d policies, got %d", ratelimit.MaxCharges, len(l.Policies))
	}
	for i, p := range l.Policies {
		if slices.ContainsFunc(l.Policies[:i], func(o Policy) bool { return o.Name == p.Name }) {
			return fmt.Errorf("api_limit: policy %s is given twice", p.Name)
		}
		if err := p.Check(); err != nil {
			return fmt.Errorf("api_limit: %w", err)
		}
		built := p.build(l.Limiter)
		if err := built.Check(); err != nil {
			return fmt.Errorf("api_limit: %w", err)
		}
		l.policies = append(l.policies, built)
		l.counts = append(l.counts, newDecisions(l.label(i)))
	}
	if err := l.app.layout.checkOrder(ctx); err != nil {
		return err
	}
	l.unreported = newDecisions(unreportedLabel)
	for _, c := range l.Costs {
		if c.Units < 1 {
			return errors.New("api_limit: a cost must be at least 1")
		}
		match, err := guard.NewRoute(c.Methods, c.Paths)
		if err != nil {
			return fmt.Errorf("api_limit: cost: %w", err)
		}
		l.costs = append(l.costs, cost{c.Units, match})
	}
	if err := l.buildExempt(); err != nil {
		return err
	}
	l.scratch.New = func() any { return new(scratch) }
	if l.style, err = ratelimit.ParseStyle(l.Headers); err != nil {
		return err
	}
	return l.provisionOutage()
}

// ServeHTTP decides on the request and tells the client what is left.
func (l *Limit) ServeHTTP(w http.ResponseWriter, r *http.Request, next caddyhttp.Handler) (err error) {
	r.Body = httpx.Unclosed(r)
	handler.ShowIdentity(r)
	handler.CloseWhenExiting(w, r)
	leave, err := l.app.lease.enter()
	if err != nil {
		handler.LeaveBody(w, r)
		return handler.Unavailable(w, err)
	}
	defer leave()
	access := handler.Caller(r)
	l.order.look(l, r)
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
	verdict, err := l.app.limiter.Decide(r.Context(), ratelimit.Request{
		Charges: charges, Cost: l.cost(r), Results: s.results[:0], OnOutage: l.outage,
	})
	if err != nil {
		l.scratch.Put(s)
		l.unreported.failed.Inc()
		handler.LeaveBody(w, r)
		return handler.Unavailable(w, err)
	}
	reported, admitted := verdict.Reported(), verdict.Admitted
	l.count(verdict, reported)
	fields := ratelimit.NewFields(l.style, verdict)
	l.scratch.Put(s)
	if !admitted {
		handler.LeaveBody(w, r)
		fields.Set(w.Header())
		return rateLimited(w.Header())
	}
	admission := l.admitted(r, fields)
	err = next.ServeHTTP(responsewriter.OnHeader(w, admission.set), r)
	if err != nil && !refusedBehind(err, w.Header()) {
		admission.set(w.Header())
	}
	return err
}

// rateLimited is the refusal of a limit that has told in the header where the client stands.
func rateLimited(h http.Header) error {
	message := "too many requests: Retry-After says when this one fits"
	if h.Get("Retry-After") == "" {
		message = "this request costs more than the limit permits at any time"
	}
	return handler.Error(http.StatusTooManyRequests, &handler.Failure{Code: "rate_limited", Message: message})
}

// refusedBehind reports whether the error is the refusal of another limit, which has told
// the client where it stands.
func refusedBehind(err error, h http.Header) bool {
	return handler.StatusOf(err) == http.StatusTooManyRequests && ratelimit.Told(h)
}

func (l *Limit) count(v ratelimit.Verdict, reported ratelimit.Result) {
	to := &l.unreported
	for i := range l.policies {
		if &l.policies[i] == reported.Policy {
			to = &l.counts[i]
		}
	}
	to.of(v).Inc()
	for _, r := range v.Results {
		if r.Shared {
			l.metrics.LimiterFull()
		}
	}
}

// label is a policy's name in metrics: that of a `by` as the configuration has it, so the
// labels are a closed set. One that is called as another kind is counted as "custom".
func (l *Limit) label(i int) string {
	p := l.Policies[i]
	switch {
	case slices.Contains(policyKinds, p.By):
		return p.By
	case slices.Contains(policyKinds, p.Name) || p.Name == unreportedLabel:
		return "custom"
	}
	return p.Name
}

// unreportedLabel is the label of decisions of which no policy was reported.
const unreportedLabel = "none"

func (l *Limit) charges(to []ratelimit.Charge, r *http.Request, access *token.Access) []ratelimit.Charge {
	for i := range l.policies {
		if subject := l.subject(l.Policies[i].By, r, access); subject != "" {
			to = append(to, ratelimit.Charge{Policy: &l.policies[i], Subject: subject})
		}
	}
	return to
}

// subject is whom a policy counts a request for, "" when it does not apply.
func (l *Limit) subject(by string, r *http.Request, access *token.Access) string {
	switch by {
	case "client":
		if access != nil {
			return access.Client
		}
	case "user":
		if access != nil && !strings.HasPrefix(access.Subject, token.ClientSubject) {
			return access.Subject
		}
	case "ip":
		return httpx.AddressKey(handler.ClientIP(r))
	case "route":
		return handler.Route(r)
	case "all":
		return "all"
	default:
		if repl, ok := r.Context().Value(caddy.ReplacerCtxKey).(*caddy.Replacer); ok {
			return hidden(repl.ReplaceKnown(by, ""))
		}
	}
	return ""
}

// buildExempt sorts the exempt into clients and ranges; an address is a range of one.
func (l *Limit) buildExempt() error {
	l.clients = make(map[string]bool)
	for _, e := range l.Exempt {
		prefix, err := netip.ParsePrefix(e)
		if addr, notAddr := netip.ParseAddr(e); notAddr == nil && addr.Zone() == "" {
			prefix, err = netip.PrefixFrom(addr.Unmap(), addr.Unmap().BitLen()), nil
		}
		known := l.app.clients.byID
		switch {
		case err == nil:
			l.ranges = append(l.ranges, prefix.Masked())
		case len(known) > 0 && known[e] == nil:
			return fmt.Errorf("api_limit: exempt %s: expected a declared client, an address or a range such as 10.0.0.0/8", e)
		default:
			l.clients[e] = true
		}
	}
	return nil
}

func (l *Limit) exempt(r *http.Request, access *token.Access) bool {
	if access != nil && l.clients[access.Client] {
		return true
	}
	if len(l.ranges) == 0 {
		return false
	}
	addr, err := netip.ParseAddr(handler.ClientIP(r))
	return err == nil && slices.ContainsFunc(l.ranges, func(p netip.Prefix) bool { return p.Contains(addr.Unmap()) })
}

func (l *Limit) cost(r *http.Request) int64 { return l.costOf(r.Method, r.URL) }

func (l *Limit) costOf(method string, at *url.URL) int64 {
	for _, c := range l.costs {
		if c.match.Matches(method, at) {
			return c.units
		}
	}
	return 1
}

// Interface guards
var (
	_ caddy.Provisioner           = (*Limit)(nil)
	_ caddyhttp.MiddlewareHandler = (*Limit)(nil)
)
