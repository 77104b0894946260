package caddyfile

import (
	"errors"
	"slices"
	"strconv"
	"strings"

	"github.com/caddyserver/caddy/v2"
	"github.com/caddyserver/caddy/v2/caddyconfig/caddyfile"
	"github.com/caddyserver/caddy/v2/caddyconfig/httpcaddyfile"
	"github.com/caddyserver/caddy/v2/modules/caddyhttp"

	"github.com/gatehouse/gatehouse/caddyfile/internal/parse"
	"github.com/gatehouse/gatehouse/module/gateway"
	"github.com/gatehouse/gatehouse/module/gateway/apilimit"
	"github.com/gatehouse/gatehouse/module/guard"
)

// parseLimit parses api_limit.
//
//	api_limit [<matcher>] {
//		client|user|ip|route|all <limit> <window> [dry_run]
//		by <name> client|user|ip|route|all|<key> <limit> <window> [dry_run]
//		cost <n> [<METHOD,...>] <paths...>
//		exempt <clients or CIDR ranges...>
//		headers x|ietf|both
//		limiter <name>
//		on_outage local|open|closed
//		versions <names...>
//	}
func parseLimit(h httpcaddyfile.Helper) (caddyhttp.MiddlewareHandler, error) {
	h.Next()
	if globalApp(h) == nil {
		return nil, h.Err("api_limit: expected a global option `gatehouse { issuer ... }` at the top of the Caddyfile")
	}
	head, source := h.Token(), parse.Position(h.Dispenser)
	if h.NextArg() {
		return nil, h.Errf("api_limit: unexpected argument '%s', expected a block", h.Val())
	}
	l := new(apilimit.Limit)
	var names []string
	words := limitWords(l)
	words["versions"] = parse.Versions(&names)
	if err := words.ReadBlock(h.Dispenser, "api_limit"); err != nil {
		return nil, err
	}
	for i := range l.Costs {
		l.Costs[i].Paths = parse.WithVersions(l.Costs[i].Paths, names)
	}
	if len(l.Policies) == 0 {
		return nil, parse.ErrorAt(head, errors.New("expected at least one policy such as `client 1000 1h`"))
	}
	// Whether a guard stands in front is known only when the whole is provisioned: `route` keeps
	// the order of directives and `handle` sorts them.
	if slices.ContainsFunc(l.Policies, apilimit.Policy.NeedsGuard) {
		l.Source = source
	}
	return l, nil
}

// limitKinds are what a policy can count by without a placeholder.
var limitKinds = []string{"client", "user", "ip", "route", "all"}

func limitWords(l *apilimit.Limit) parse.Words {
	policy := func(d *caddyfile.Dispenser) error {
		return readLimitPolicy(d, l, apilimit.Policy{Name: d.Val(), By: d.Val()})
	}
	words := parse.Words{
		"by":        func(d *caddyfile.Dispenser) error { return readLimitBy(d, l) },
		"cost":      parse.Append(&l.Costs, readLimitCost),
		"exempt":    parse.List(&l.Exempt, "client ids, addresses or address ranges such as 10.0.0.0/8"),
		"headers":   parse.Once(&l.Headers, parse.Choice("x", "ietf", "both")),
		"limiter":   parse.Once(&l.Limiter, parse.Argument("a name")),
		"on_outage": parse.Once(&l.OnOutage, parse.Choice("local", "open", "closed")),
	}
	for _, kind := range limitKinds {
		words[kind] = policy
	}
	return words
}

func readLimitBy(d *caddyfile.Dispenser, l *apilimit.Limit) error {
	if !d.NextArg() {
		return d.Err("by: expected a name, a key, a limit and a window, such as `by tenant {http.request.header.X-Tenant} 200 1m`")
	}
	p := apilimit.Policy{Name: d.Val()}
	if gateway.Placeholder(p.Name) {
		return d.Errf("by: unexpected '%s', expected a name before the key, such as `by tenant %s 200 1m`", p.Name, p.Name)
	}
	if !d.NextArg() {
		return d.Errf("by %s: expected a key with a placeholder, such as {http.request.header.X-Tenant}", p.Name)
	}
	if p.By = d.Val(); !slices.Contains(limitKinds, p.By) && !gateway.Placeholder(p.By) {
		return d.Errf("by %s: '%s' has no placeholder, expected a key such as {http.request.header.X-Tenant}", p.Name, p.By)
	}
	return readLimitPolicy(d, l, p)
}

func readLimitPolicy(d *caddyfile.Dispenser, l *apilimit.Limit, p apilimit.Policy) error {
	if slices.ContainsFunc(l.Policies, func(other apilimit.Policy) bool { return other.Name == p.Name }) {
		return d.Errf("%s is given twice", p.Name)
	}
	args := d.RemainingArgs()
	if len(args) == 3 && args[2] == "dry_run" {
		p.DryRun, args = true, args[:2]
	}
	if len(args) != 2 {
		words := p.Name
		if p.By != p.Name {
			words = "by " + p.Name + " " + p.By
		}
		return d.Errf("%s: expected a limit and a window, such as `%s 1000 1h`, and perhaps dry_run", p.Name, words)
	}
	var err error
	if p.Limit, err = strconv.ParseInt(args[0], 10, 64); err != nil || p.Limit < 1 {
		return d.Errf("%s: invalid limit '%s', expected a whole number from 1", p.Name, args[0])
	}
	if p.Window, err = parse.ToDuration[caddy.Duration](d, p.Name, args[1]); err != nil {
		return err
	}
	if err := p.Check(); err != nil {
		return d.WrapErr(err)
	}
	l.Policies = append(l.Policies, p)
	return nil
}

func readLimitCost(d *caddyfile.Dispenser) (c apilimit.Cost, err error) {
	if !d.NextArg() {
		return c, d.Err("cost: expected a number, methods and paths, such as `cost 10 POST /import`")
	}
	if c.Units, err = strconv.ParseInt(d.Val(), 10, 64); err != nil || c.Units < 1 {
		return c, d.Errf("cost: invalid number '%s', expected a whole number from 1", d.Val())
	}
	for d.NextArg() {
		switch arg := d.Val(); {
		case strings.HasPrefix(arg, "/"):
			c.Paths = append(c.Paths, arg)
		case c.Methods == nil && c.Paths == nil:
			c.Methods = strings.Split(arg, ",")
		default:
			return c, d.Errf("cost: unexpected '%s', expected a path beginning with /", arg)
		}
	}
	if len(c.Paths) == 0 {
		return c, d.Err("cost: expected one or more paths such as /import")
	}
	if err := new(guard.Routes).Add(c.Methods, c.Paths); err != nil {
		return c, d.Errf("cost: %s", strings.TrimPrefix(err.Error(), "guard: "))
	}
	return c, nil
}
