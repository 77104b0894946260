package gateway

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/caddyserver/caddy/v2"

	"github.com/gatehouse/gatehouse/module/internal/gcheadroom"
	"github.com/gatehouse/gatehouse/module/internal/token"
	"github.com/gatehouse/gatehouse/module/oauth"
)

// maxDuration prevents overflow when a duration is added to a time.
const maxDuration = 100 * 366 * 24 * time.Hour

// MinRotateKeys is the least age at which a signing key is replaced: old keys stay
// published as long as their tokens are valid, and the list should stay short.
const MinRotateKeys = time.Hour

// MaxGrantsPerUser bounds grants_per_user: all grants of a user at a client are in one record.
const MaxGrantsPerUser = 1000

// CheckTokenCache reports what is wrong with a size of token_cache.
func CheckTokenCache(bytes int64) error {
	if bytes < token.MinCache || bytes > token.MaxCache {
		return fmt.Errorf("token_cache: %d bytes, expected %d (2MiB) to %d (1024GiB)", bytes, token.MinCache, int64(token.MaxCache))
	}
	return nil
}

// CheckGCHeadroom reports what is wrong with a size of gc_headroom.
func CheckGCHeadroom(bytes int64) error {
	if bytes < gcheadroom.Min || bytes > gcheadroom.Max {
		return fmt.Errorf("gc_headroom: %d bytes, expected %d (1MiB) to %d (1024GiB)", bytes, gcheadroom.Min, int64(gcheadroom.Max))
	}
	return nil
}

// checkValues refuses values in JSON that the Caddyfile would refuse. Zero means "not given"
// everywhere here.
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
	if a.TokenCache != 0 {
		if err := CheckTokenCache(a.TokenCache); err != nil {
			return err
		}
	}
	if size := a.GCHeadroom; size != nil && *size != 0 {
		if err := CheckGCHeadroom(*size); err != nil {
			return err
		}
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

// CheckScopes reports a scope that is neither declared nor among besides.
func (a *App) CheckScopes(scopes []string, besides ...string) error {
	known := append(a.Declared(), besides...)
	for _, s := range scopes {
		if !slices.Contains(known, s) {
			return fmt.Errorf("scope %s is not declared in the global option gatehouse", s)
		}
	}
	return nil
}

// check checks words and numbers; the parts check the rest when they are built.
func (a *App) check() error {
	if rule, ok := oauth.NamedStateRule(a.RequireState); !ok || rule == oauth.StateNever {
		return fmt.Errorf("require_state: expected always or unless_pkce_or_nonce, got %s", a.RequireState)
	}
	switch a.PKCE {
	case "", "public", "required":
	default:
		return fmt.Errorf("pkce: expected public or required, got %s", a.PKCE)
	}
	if err := a.checkValues(); err != nil {
		return err
	}
	seen := make(map[string]bool)
	for _, s := range a.Scopes {
		switch {
		case !oauth.ValidScope(s.Name):
			return fmt.Errorf("scope %q is not a valid name", s.Name)
		case slices.Contains(oauth.BuiltinScopes, s.Name):
			return fmt.Errorf("scope %s is built in and needs no declaration", s.Name)
		case slices.Contains(oauth.VariantBScopes, s.Name):
			return fmt.Errorf("scope %s is one of Variant B's and needs no declaration", s.Name)
		case seen[s.Name]:
			return fmt.Errorf("scope %s is declared twice", s.Name)
		case s.Text["en"] == "":
			return fmt.Errorf("scope %s has no text in the language en", s.Name)
		}
		seen[s.Name] = true
	}
	return nil
}

// Declared lists the built-in scopes and those of the configuration.
func (a *App) Declared() []string {
	names := slices.Clone(oauth.BuiltinScopes)
	for _, s := range a.Scopes {
		names = append(names, s.Name)
	}
	return names
}
