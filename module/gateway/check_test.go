package gateway

import (
	"math"
	"strings"
	"testing"
	"time"

	"github.com/caddyserver/caddy/v2"
)

func TestInvalidJSONConfigIsRefusedByName(t *testing.T) {
	negative := caddy.Duration(-1)
	for want, a := range map[string]*App{
		"tokens: code":            {Tokens: Tokens{Code: -1}},
		"tokens: access":          {Tokens: Tokens{Access: math.MaxInt64}},
		"tokens: refresh":         {Tokens: Tokens{Refresh: math.MaxInt64}},
		"tokens: refresh_grace":   {Tokens: Tokens{RefreshGrace: &negative}},
		"session: absolute":       {Session: Session{Absolute: -1}},
		"session: idle":           {Session: Session{Idle: caddy.Duration(time.Millisecond)}},
		"protect: lockout":        {Protect: Protect{Lockout: -1}},
		"login_failures":          {Protect: Protect{LoginFailures: -1}},
		"per_address":             {Protect: Protect{PerAddress: -1}},
		"hash_concurrency":        {Protect: Protect{HashConcurrency: -1}}, // it panicked
		"an audience is empty":    {Tokens: Tokens{Audience: []string{""}}},
		"expected a placeholder":  {Secrets: []string{"0123456789-0123456789-0123456789"}},
		"secret 2":                {Secrets: []string{"{env.A}", "0123456789-0123456789-0123456789"}},
		"revocation_max_stale":    {RevocationMaxStale: -1},
		"token_cache: 1 bytes":    {TokenCache: 1},
		"token_cache: -1 bytes":   {TokenCache: -1},
		"expected 2097152 (2MiB)": {TokenCache: 1<<40 + 1},
		"gc_headroom: 1 bytes":    {GCHeadroom: new(int64(1))},
		"gc_headroom: -1 bytes":   {GCHeadroom: new(int64(-1))},
		"expected 1048576 (1MiB)": {GCHeadroom: new(int64(1<<40 + 1))},
		"require_state: expected": {RequireState: "never"},
	} {
		if err := a.check(); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: got %v", want, err)
		}
	}
	if err := (&App{}).check(); err != nil {
		t.Errorf("the defaults: %v", err)
	}
	if err := (&App{GCHeadroom: new(int64)}).check(); err != nil {
		t.Errorf("gc_headroom off: %v", err)
	}
}

func TestIssuerPathMustBePlain(t *testing.T) {
	for issuer, ok := range map[string]bool{
		"https://id.example": true, "https://id.example/auth": true, "http://localhost:9080/a/b": true,
		"https://id.example/a/../b": false, "https://id.example//a": false, "https://id.example/a%2Fb": false,
		"https://id.example/a b": false, "https://id.example/": false, "http://id.example": false,
	} {
		if _, err := ParseIssuer(issuer, caddy.NewReplacer()); (err == nil) != ok {
			t.Errorf("%s: %v", issuer, err)
		}
	}
}

func TestKeyRotationMustFitIntoTheRing(t *testing.T) {
	for _, c := range []struct {
		access, every time.Duration
		fits          bool
	}{
		{0, 0, true}, {24 * time.Hour, 0, true}, {15 * time.Hour, time.Hour, true}, {16 * time.Hour, time.Hour, false},
		{365 * 24 * time.Hour, 0, true}, {500 * 24 * time.Hour, 0, false},
	} {
		err := Tokens{Access: caddy.Duration(c.access), RotateKeys: caddy.Duration(c.every)}.checkKeys()
		if (err == nil) != c.fits {
			t.Errorf("tokens of %v with keys of %v: %v", c.access, c.every, err)
		}
	}
}
