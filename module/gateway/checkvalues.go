package gateway

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/caddyserver/caddy/v2"
)

// maxDuration keeps additions to a moment from wrapping around.
const maxDuration = 100 * 366 * 24 * time.Hour

// MinRotateKeys is the least age at which a signing key is replaced: old keys stay
// published as long as tokens live, and a few hundred of them would be a burden.
const MinRotateKeys = time.Hour

// MaxGrantsPerUser bounds grants_per_user: all grants of a user at a client are in one record.
const MaxGrantsPerUser = 1000

// checkValues looks at what the Caddyfile's words refuse and JSON lets through. Zero is
// "not given" everywhere here.
func (a *App) checkValues() error {
	for _, d := range []struct {
		name  string
		value caddy.Duration
	}{
		{"tokens: access", a.Tokens.Access}, {"tokens: refresh", a.Tokens.Refresh},
		{"tokens: refresh_idle", a.Tokens.RefreshIdle}, {"tokens: code", a.Tokens.Code},
		{"session: absolute", a.Session.Absolute}, {"session: idle", a.Session.Idle},
		{"protect: lockout", a.Protect.Lockout}, {"revocation_max_stale", a.RevocationMaxStale},
	} {
		if v := time.Duration(d.value); v != 0 && (v < time.Second || v > maxDuration) {
			return fmt.Errorf("%s: %v is not from 1s to 100 years", d.name, v)
		}
	}
	if v := time.Duration(a.Tokens.RotateKeys); v != 0 && (v < MinRotateKeys || v > maxDuration) {
		return fmt.Errorf("tokens: rotate_keys: %v is not from %v to 100 years", v, MinRotateKeys)
	}
	if err := a.Tokens.checkKeys(); err != nil {
		return err
	}
	if n := a.Tokens.GrantsPerUser; n < 0 || n > MaxGrantsPerUser {
		return fmt.Errorf("tokens: grants_per_user: %d is not from 1 to %d", n, MaxGrantsPerUser)
	}
	if g := a.Tokens.RefreshGrace; g != nil && (*g < 0 || time.Duration(*g) > maxDuration) {
		return fmt.Errorf("tokens: refresh_grace: %v is not from 0 to 100 years", time.Duration(*g))
	}
	for _, n := range []struct {
		name  string
		value int
	}{
		{"login_failures", a.Protect.LoginFailures}, {"per_address", a.Protect.PerAddress},
		{"codes_per_user", a.Protect.CodesPerUser},
		{"hash_concurrency", a.Protect.HashConcurrency},
	} {
		if n.value < 0 {
			return fmt.Errorf("protect: %s: %d is negative", n.name, n.value)
		}
	}
	if slices.Contains(a.Tokens.Audience, "") {
		return errors.New("tokens: an audience is empty")
	}
	for i, s := range a.Secrets {
		if err := refuseLiteral(s, "{env.GATEHOUSE_SECRET}"); err != nil {
			return fmt.Errorf("secret %d: %w", i+1, err)
		}
	}
	if a.Audit != "" && a.Audit != "on" && a.Audit != "off" {
		return fmt.Errorf("audit: expected on or off, got %s", a.Audit)
	}
	if a.Registration != nil {
		if err := a.Registration.Check(); err != nil {
			return fmt.Errorf("registration: %w", err)
		}
		if err := a.CheckScopes(a.Registration.Scopes); err != nil {
			return fmt.Errorf("registration: %w", err)
		}
	}
	return nil
}
