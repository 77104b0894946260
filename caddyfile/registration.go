package caddyfile

import (
	"fmt"
	"slices"
	"strings"

	"github.com/caddyserver/caddy/v2/caddyconfig/caddyfile"

	"github.com/gatehouse/gatehouse/caddyfile/internal/parse"
	"github.com/gatehouse/gatehouse/module/gateway"
)

// readRegistration reads how clients may register themselves.
//
//	registration {
//		initial_token <placeholders...>
//		scopes <names...>
//		audience <audiences...>
//		max <n>
//	}
func (g *globalBlock) readRegistration(d *caddyfile.Dispenser) error {
	head := d.Token()
	if err := parse.CheckOnce(d, g.app.Registration != nil); err != nil {
		return err
	}
	if d.NextArg() {
		return d.Errf("registration: unexpected argument '%s', expected a block", d.Val())
	}
	r := new(gateway.Registration)
	g.app.Registration = r
	err := parse.Words{
		"initial_token": parse.AppendAll(&r.InitialTokens, readInitialTokens),
		"scopes":        parse.Once(&r.Scopes, g.readRegistrationScopes),
		"audience":      parse.Once(&r.Audience, parse.Arguments("one or more audiences")),
		"max":           parse.Once(&r.Max, parse.Number),
	}.ReadBlock(d, "registration")
	if err != nil {
		return err
	}
	if err := r.Check(); err != nil {
		return parse.ErrorAt(head, fmt.Errorf("registration: %w", err))
	}
	return nil
}

func readInitialTokens(d *caddyfile.Dispenser) ([]string, error) {
	values, err := parse.Arguments("a placeholder such as {env.REGISTRATION_TOKEN}")(d)
	if slices.ContainsFunc(values, func(v string) bool { return !gateway.Placeholder(v) }) {
		return nil, d.Err("initial_token: expected a placeholder such as {env.REGISTRATION_TOKEN} or {file./run/secrets/registration}: a literal would be readable in Caddy's stored configuration")
	}
	return values, err
}

// readRegistrationScopes reads scopes, which may be declared further down.
func (g *globalBlock) readRegistrationScopes(d *caddyfile.Dispenser) ([]string, error) {
	where := d.Token()
	names, err := parse.Arguments("one or more scopes")(d)
	g.later = append(g.later, func() error {
		known := g.app.Declared()
		for _, name := range names {
			if !slices.Contains(known, name) {
				return parse.ErrorAt(where, fmt.Errorf("registration: scope %s is not declared, expected one of: %s", name, strings.Join(known, ", ")))
			}
		}
		return nil
	})
	return names, err
}
