package caddyfile

import (
	"time"

	"github.com/caddyserver/caddy/v2"

	"github.com/gatehouse/gatehouse/module/gateway"
)

// each reads the words of a block; read is called at each.
func (g *globalBlock) each(read func(word string) error) error {
	name := g.Val()
	if g.NextArg() {
		return g.Errf("%s: unexpected argument '%s', expected a block", name, g.Val())
	}
	seen := make(map[string]bool)
	for nesting := g.Nesting(); g.NextBlock(nesting); {
		word := g.Val()
		if err := once(g.Dispenser, seen[word]); err != nil {
			return err
		}
		seen[word] = true
		if err := read(word); err != nil {
			return err
		}
	}
	return nil
}

func (g *globalBlock) tokens() error {
	t := &g.app.Tokens
	return g.each(func(word string) (err error) {
		switch word {
		case "access":
			t.Access, err = duration(g.Dispenser, false)
		case "refresh":
			t.Refresh, err = duration(g.Dispenser, false)
		case "refresh_idle":
			t.RefreshIdle, err = duration(g.Dispenser, false)
		case "refresh_grace":
			var grace caddy.Duration
			grace, err = duration(g.Dispenser, true)
			t.RefreshGrace = &grace
		case "code":
			t.Code, err = duration(g.Dispenser, false)
		case "rotate_keys":
			t.RotateKeys, err = duration(g.Dispenser, false)
			if err == nil && time.Duration(t.RotateKeys) < gateway.MinRotateKeys {
				err = g.Errf("rotate_keys: '%s' is too short, expected 1h or more", g.Val())
			}
		case "grants_per_user":
			t.GrantsPerUser, err = numberTo(g.Dispenser, gateway.MaxGrantsPerUser)
		case "alg":
			t.Algorithm, err = g.choice("", "ES256", "RS256", "EdDSA")
		case "audience":
			t.Audience, err = some(g.Dispenser, "one or more audiences, usually the address of the API")
		default:
			err = unknown(g.Dispenser, "tokens", "access", "refresh", "refresh_idle", "refresh_grace", "code", "rotate_keys", "grants_per_user", "alg", "audience")
		}
		return err
	})
}

func (g *globalBlock) session() error {
	s := &g.app.Session
	return g.each(func(word string) (err error) {
		switch word {
		case "absolute":
			s.Absolute, err = duration(g.Dispenser, false)
		case "idle":
			s.Idle, err = duration(g.Dispenser, false)
		default:
			err = unknown(g.Dispenser, "session", "absolute", "idle")
		}
		return err
	})
}

func (g *globalBlock) protect() error {
	p := &g.app.Protect
	return g.each(func(word string) (err error) {
		switch word {
		case "login_failures":
			p.LoginFailures, err = number(g.Dispenser)
		case "codes_per_user":
			p.CodesPerUser, err = number(g.Dispenser)
		case "per_address":
			p.PerAddress, err = number(g.Dispenser)
		case "hash_concurrency":
			p.HashConcurrency, err = number(g.Dispenser)
		case "lockout":
			p.Lockout, err = duration(g.Dispenser, false)
		default:
			err = unknown(g.Dispenser, "protect", "login_failures", "per_address", "codes_per_user", "hash_concurrency", "lockout")
		}
		return err
	})
}
