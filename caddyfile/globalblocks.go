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
		"access":          parse.Once(&t.Access, parse.Duration),
		"refresh":         parse.Once(&t.Refresh, parse.Duration),
		"refresh_idle":    parse.Once(&t.RefreshIdle, parse.Duration),
		"refresh_grace":   parse.Once(&t.RefreshGrace, parse.DurationOrZero),
		"code":            parse.Once(&t.Code, parse.Duration),
		"rotate_keys":     parse.Once(&t.RotateKeys, readKeyAge),
		"grants_per_user": parse.Once(&t.GrantsPerUser, parse.NumberUpTo(gateway.MaxGrantsPerUser)),
		"alg":             parse.Once(&t.Algorithm, parse.Either("ES256", "RS256", "EdDSA")),
		"audience":        parse.List(&t.Audience, "one or more audiences, usually the address of the API"),
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
		"absolute": parse.Once(&s.Absolute, parse.Duration),
		"idle":     parse.Once(&s.Idle, parse.Duration),
	}
}

func protectWords(p *gateway.Protect) parse.Words {
	return parse.Words{
		"login_failures":   parse.Once(&p.LoginFailures, parse.Number),
		"codes_per_user":   parse.Once(&p.CodesPerUser, parse.Number),
		"per_address":      parse.Once(&p.PerAddress, parse.Number),
		"hash_concurrency": parse.Once(&p.HashConcurrency, parse.Number),
		"lockout":          parse.Once(&p.Lockout, parse.Duration),
	}
}
