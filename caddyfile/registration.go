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
		"initial_token": parse.List(&r.InitialTokens, "a placeholder such as {env.REGISTRATION_TOKEN}", checkInitialToken),
		"scopes":        parse.List(&r.Scopes, "one or more scopes", g.checkRegistrationScope),
		"audience":      parse.List(&r.Audience, "one or more audiences"),
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

func checkInitialToken(d *caddyfile.Dispenser, word, value string) error {
	if !gateway.Placeholder(value) {
		return d.Errf("%s: expected a placeholder such as {env.REGISTRATION_TOKEN} or {file./run/secrets/registration}: a literal would be readable in Caddy's stored configuration", word)
	}
	return nil
}

// checkRegistrationScope checks a scope once all are known: it may be declared further down.
func (g *globalBlock) checkRegistrationScope(d *caddyfile.Dispenser, _, name string) error {
	where := d.Token()
	g.later = append(g.later, func() error {
		if known := g.app.Declared(); !slices.Contains(known, name) {
			return parse.ErrorAt(where, fmt.Errorf("registration: scope %s is not declared, expected one of: %s", name, strings.Join(known, ", ")))
		}
		return nil
	})
	return nil
}
