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
	_, err := p.build("")
	return err
}

// build checks the policy and returns it for a limiter of this name.
func (p Policy) build(limiter string) (ratelimit.Policy, error) {
	if !slices.Contains(policyKinds, p.By) && !gateway.Placeholder(p.By) { // misspelt, it would count everybody together, or nobody
		return ratelimit.Policy{}, fmt.Errorf("rate limit policy %s: by %q: expected %s or a text with a placeholder", p.Name, p.By, strings.Join(policyKinds, ", "))
	}
	if limiter == "default" {
		limiter = ""
	}
	built := ratelimit.Policy{Limiter: limiter, Name: p.Name, Limit: p.Limit, Window: time.Duration(p.Window), DryRun: p.DryRun, Chosen: p.unboundedKeys()}
	return built, built.Check()
}

// unboundedKeys reports whether there may be any number of keys: a `by` may be made of anything
// that a request says, and whoever has an IPv6 prefix has as many addresses as there are in it.
// Clients and users are registered, and rules are written.
func (p Policy) unboundedKeys() bool { return p.By == "ip" || !slices.Contains(policyKinds, p.By) }

// NeedsGuard reports whether the policy counts by something that only a guard in front can
// tell. Without one it applies to no request.
func (p Policy) NeedsGuard() bool { return routes.Policy{Name: p.Name, By: p.By}.NeedsGuard() }
