package caddyfile

import (
	"fmt"
	"slices"
	"strings"

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
func (g *globalBlock) readRegistration() error {
	head := g.Token()
	if err := parse.Once(g.Dispenser, g.app.Registration != nil); err != nil {
		return err
	}
	if g.NextArg() {
		return g.Errf("registration: unexpected argument '%s', expected a block", g.Val())
	}
	r := new(gateway.Registration)
	g.app.Registration = r
	for nesting := g.Nesting(); g.NextBlock(nesting); {
		if err := g.readRegistrationWord(r); err != nil {
			return err
		}
	}
	if err := r.Check(); err != nil {
		return parse.ErrorAt(head, fmt.Errorf("registration: %w", err))
	}
	return nil
}

func (g *globalBlock) readRegistrationWord(r *gateway.Registration) (err error) {
	switch g.Val() {
	case "initial_token":
		values, err := parse.Arguments(g.Dispenser, "a placeholder such as {env.REGISTRATION_TOKEN}")
		for _, v := range values {
			if !gateway.Placeholder(v) {
				return g.Err("initial_token: expected a placeholder such as {env.REGISTRATION_TOKEN} or {file./run/secrets/registration}: a literal would be readable in Caddy's stored configuration")
			}
		}
		r.InitialTokens = append(r.InitialTokens, values...)
		return err
	case "scopes":
		if err := parse.Once(g.Dispenser, r.Scopes != nil); err != nil {
			return err
		}
		where := g.Token()
		if r.Scopes, err = parse.Arguments(g.Dispenser, "one or more scopes"); err != nil {
			return err
		}
		g.later = append(g.later, func() error {
			known := g.app.Declared()
			for _, name := range r.Scopes {
				if !slices.Contains(known, name) {
					return parse.ErrorAt(where, fmt.Errorf("registration: scope %s is not declared, expected one of: %s", name, strings.Join(known, ", ")))
				}
			}
			return nil
		})
	case "audience":
		if err := parse.Once(g.Dispenser, r.Audience != nil); err != nil {
			return err
		}
		r.Audience, err = parse.Arguments(g.Dispenser, "one or more audiences")
	case "max":
		if err := parse.Once(g.Dispenser, r.Max != 0); err != nil {
			return err
		}
		r.Max, err = parse.Number(g.Dispenser)
	default:
		err = parse.UnknownWord(g.Dispenser, "registration", "initial_token", "scopes", "audience", "max")
	}
	return err
}
