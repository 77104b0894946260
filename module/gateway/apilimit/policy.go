package apilimit

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/caddyserver/caddy/v2"

	"github.com/gatehouse/gatehouse/module/gateway"
	"github.com/gatehouse/gatehouse/module/internal/routes"
	"github.com/gatehouse/gatehouse/module/ratelimit"
)

// Policy is one limit.
type Policy struct {
	// Names the policy to clients and operators, and in metrics: letters, digits, `_`, `-`, `.`.
	// `none` is reserved. Required.
	Name string `json:"name"`
	// What it counts by: `client`, `user`, `ip` (IPv6 by /64), `route` (the guard's rule),
	// `all`, or a text with a placeholder. It does not apply to requests where this is empty.
	By string `json:"by"`
	// Units of cost allowed in a window. Required.
	Limit int64 `json:"limit"`
	// The length of the window, at least one second. Required.
	Window caddy.Duration `json:"window"`
	// Only counts, and refuses nothing.
	DryRun bool `json:"dry_run,omitempty"`
}

// policyKinds are what a policy can count by without a placeholder.
var policyKinds = []string{"client", "user", "ip", "route", "all"}

// Check reports what is wrong with the policy.
func (p Policy) Check() error {
	_, err := p.build("")
	return err
}

// build checks the policy and returns it for a limiter of this name.
func (p Policy) build(limiter string) (ratelimit.Policy, error) {
	if !slices.Contains(policyKinds, p.By) && !gateway.Placeholder(p.By) { // a misspelt kind would count all callers together, or none
		return ratelimit.Policy{}, fmt.Errorf("rate limit policy %s: by %q: expected %s or a text with a placeholder", p.Name, p.By, strings.Join(policyKinds, ", "))
	}
	if p.Name == unreportedLabel {
		return ratelimit.Policy{}, fmt.Errorf("rate limit policy %s: metrics count requests without a policy by this name, expected another one", p.Name)
	}
	if limiter == "default" {
		limiter = ""
	}
	built := ratelimit.Policy{Limiter: limiter, Name: p.Name, Limit: p.Limit, Window: time.Duration(p.Window), DryRun: p.DryRun, Chosen: p.unboundedKeys()}
	return built, built.Check()
}

// unboundedKeys reports whether callers choose the keys: a placeholder may contain anything from
// the request, and an IPv6 prefix has very many addresses. Clients, users and rules are known.
func (p Policy) unboundedKeys() bool { return p.By == "ip" || !slices.Contains(policyKinds, p.By) }

// common reports whether many callers share a key.
func (p Policy) common() bool { return p.By == "route" || p.By == "all" }

// NeedsGuard reports whether the policy counts by something that only a guard in front can
// know. Without one it applies to no request.
func (p Policy) NeedsGuard() bool { return routes.Policy{Name: p.Name, By: p.By}.NeedsGuard() }
