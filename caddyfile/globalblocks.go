package caddyfile

import (
	"time"

	"github.com/caddyserver/caddy/v2"
	"github.com/caddyserver/caddy/v2/caddyconfig/caddyfile"

	"github.com/gatehouse/gatehouse/caddyfile/internal/parse"
	"github.com/gatehouse/gatehouse/module/gateway"
)

func tokenWords(t *gateway.Tokens) parse.Words {
	return parse.Words{
		"access":          parse.Set(&t.Access, parse.Duration),
		"refresh":         parse.Set(&t.Refresh, parse.Duration),
		"refresh_idle":    parse.Set(&t.RefreshIdle, parse.Duration),
		"refresh_grace":   parse.Set(&t.RefreshGrace, parse.DurationOrZero),
		"code":            parse.Set(&t.Code, parse.Duration),
		"rotate_keys":     parse.Set(&t.RotateKeys, readKeyAge),
		"grants_per_user": parse.Set(&t.GrantsPerUser, parse.NumberUpTo(gateway.MaxGrantsPerUser)),
		"alg":             parse.Set(&t.Algorithm, parse.Either("ES256", "RS256", "EdDSA")),
		"audience":        parse.Set(&t.Audience, parse.Arguments("one or more audiences, usually the address of the API")),
	}
}

func readKeyAge(d *caddyfile.Dispenser) (caddy.Duration, error) {
	age, err := parse.Duration[caddy.Duration](d)
	if err == nil && time.Duration(age) < gateway.MinRotateKeys {
		err = d.Errf("rotate_keys: '%s' is too short, expected 1h or more", d.Val())
	}
	return age, err
}

func sessionWords(s *gateway.Session) parse.Words {
	return parse.Words{
		"absolute": parse.Set(&s.Absolute, parse.Duration),
		"idle":     parse.Set(&s.Idle, parse.Duration),
	}
}

func protectWords(p *gateway.Protect) parse.Words {
	return parse.Words{
		"login_failures":   parse.Set(&p.LoginFailures, parse.Number),
		"codes_per_user":   parse.Set(&p.CodesPerUser, parse.Number),
		"per_address":      parse.Set(&p.PerAddress, parse.Number),
		"hash_concurrency": parse.Set(&p.HashConcurrency, parse.Number),
		"lockout":          parse.Set(&p.Lockout, parse.Duration),
	}
}
