package caddyfile

import (
	"time"

	"github.com/caddyserver/caddy/v2"

	"github.com/gatehouse/gatehouse/caddyfile/internal/parse"
	"github.com/gatehouse/gatehouse/module/gateway"
)

// readBlock calls read at each word of a block, and refuses a word that is given twice.
func (g *globalBlock) readBlock(read func(word string) error) error {
	name := g.Val()
	if g.NextArg() {
		return g.Errf("%s: unexpected argument '%s', expected a block", name, g.Val())
	}
	seen := make(map[string]bool)
	for nesting := g.Nesting(); g.NextBlock(nesting); {
		word := g.Val()
		if err := parse.Once(g.Dispenser, seen[word]); err != nil {
			return err
		}
		seen[word] = true
		if err := read(word); err != nil {
			return err
		}
	}
	return nil
}

func (g *globalBlock) readTokens() error {
	t := &g.app.Tokens
	return g.readBlock(func(word string) (err error) {
		switch word {
		case "access":
			t.Access, err = parse.Duration(g.Dispenser)
		case "refresh":
			t.Refresh, err = parse.Duration(g.Dispenser)
		case "refresh_idle":
			t.RefreshIdle, err = parse.Duration(g.Dispenser)
		case "refresh_grace":
			var grace caddy.Duration
			grace, err = parse.DurationOrZero(g.Dispenser)
			t.RefreshGrace = &grace
		case "code":
			t.Code, err = parse.Duration(g.Dispenser)
		case "rotate_keys":
			t.RotateKeys, err = parse.Duration(g.Dispenser)
			if err == nil && time.Duration(t.RotateKeys) < gateway.MinRotateKeys {
				err = g.Errf("rotate_keys: '%s' is too short, expected 1h or more", g.Val())
			}
		case "grants_per_user":
			t.GrantsPerUser, err = parse.NumberUpTo(g.Dispenser, gateway.MaxGrantsPerUser)
		case "alg":
			t.Algorithm, err = g.readChoice("", "ES256", "RS256", "EdDSA")
		case "audience":
			t.Audience, err = parse.Arguments(g.Dispenser, "one or more audiences, usually the address of the API")
		default:
			err = parse.UnknownWord(g.Dispenser, "tokens", "access", "refresh", "refresh_idle", "refresh_grace", "code", "rotate_keys", "grants_per_user", "alg", "audience")
		}
		return err
	})
}

func (g *globalBlock) readSession() error {
	s := &g.app.Session
	return g.readBlock(func(word string) (err error) {
		switch word {
		case "absolute":
			s.Absolute, err = parse.Duration(g.Dispenser)
		case "idle":
			s.Idle, err = parse.Duration(g.Dispenser)
		default:
			err = parse.UnknownWord(g.Dispenser, "session", "absolute", "idle")
		}
		return err
	})
}

func (g *globalBlock) readProtect() error {
	p := &g.app.Protect
	return g.readBlock(func(word string) (err error) {
		switch word {
		case "login_failures":
			p.LoginFailures, err = parse.Number(g.Dispenser)
		case "codes_per_user":
			p.CodesPerUser, err = parse.Number(g.Dispenser)
		case "per_address":
			p.PerAddress, err = parse.Number(g.Dispenser)
		case "hash_concurrency":
			p.HashConcurrency, err = parse.Number(g.Dispenser)
		case "lockout":
			p.Lockout, err = parse.Duration(g.Dispenser)
		default:
			err = parse.UnknownWord(g.Dispenser, "protect", "login_failures", "per_address", "codes_per_user", "hash_concurrency", "lockout")
		}
		return err
	})
}
