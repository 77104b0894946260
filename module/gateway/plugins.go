package gateway

import (
	"encoding/json"
	"errors"
	"fmt"

	"github.com/caddyserver/caddy/v2"

	"github.com/gatehouse/gatehouse/module/directory"
	"github.com/gatehouse/gatehouse/module/internal/lazy"
	"github.com/gatehouse/gatehouse/module/internal/pool"
	"github.com/gatehouse/gatehouse/module/ratelimit"
	"github.com/gatehouse/gatehouse/module/store"
)

func (a *App) loadStore(ctx caddy.Context) (store.Source, error) {
	if a.StoreRaw == nil {
		if _, err := caddy.GetModule("gatehouse.stores.bolt"); err != nil {
			return nil, errors.New("no store is configured and the default one, the module gatehouse.stores.bolt, is not part of this build: add the plugin plugins/store/bolt, or name another store")
		}
		a.StoreRaw = json.RawMessage(`{"type":"bolt"}`)
	}
	plugin, err := ctx.LoadModule(a, "StoreRaw")
	if err != nil {
		return nil, fmt.Errorf("store: %w", err)
	}
	source, ok := plugin.(store.Source)
	if !ok {
		return nil, fmt.Errorf("store: %T is not a store", plugin)
	}
	if s, ok := plugin.(needsSecret); ok && s.NeedsSecret() && len(a.Secrets) == 0 {
		return nil, errors.New("this store keeps no secret of its own: set the global option `secret` of gatehouse, on all nodes the same, such as `secret {env.GATEHOUSE_SECRET}`")
	}
	return source, nil
}

// needsSecret is implemented by stores that several nodes share.
type needsSecret interface {
	// NeedsSecret reports that the store's backend is no [store.SecretKeeper], so that a
	// configuration without `secret` cannot work. It MUST NOT touch disk or network.
	NeedsSecret() bool
}

// besideStore is implemented by limiters that can use what the store is configured with.
type besideStore interface {
	// BesideStore is called once, before Identity, with the [store.Source]. It MUST NOT
	// touch disk or network. Its error refuses the configuration.
	BesideStore(source any) error
}

// adjuster is implemented by limiters with settings that are no part of their identity: a
// configuration that starts applies its own to the source that is open already.
type adjuster interface {
	// Adjust is called with a source that this limiter, or one of the same identity, opened.
	Adjust(open ratelimit.OpenSource) error
}

func (a *App) loadLimiter(ctx caddy.Context, beside store.Source) (*lazy.Limiter, error) {
	limiter := ratelimit.Plugin(new(MemoryLimiter))
	if a.LimiterRaw != nil {
		plugin, err := ctx.LoadModule(a, "LimiterRaw")
		if err != nil {
			return nil, fmt.Errorf("limiter: %w", err)
		}
		var ok bool
		if limiter, ok = plugin.(ratelimit.Plugin); !ok {
			return nil, fmt.Errorf("limiter: %T is not a limiter", plugin)
		}
		if b, ok := plugin.(besideStore); ok {
			if err := b.BesideStore(beside); err != nil {
				return nil, fmt.Errorf("limiter: %w", err)
			}
		}
	}
	a.adjuster, _ = limiter.(adjuster)
	return pool.Hold(&a.held, limiter.Identity(), func() (*lazy.Limiter, error) { return lazy.NewLimiter(limiter), nil })
}

func (a *App) loadUsers(ctx caddy.Context) (directory.Directory, error) {
	if a.UsersRaw == nil {
		return a.core.Users, nil
	}
	plugin, err := ctx.LoadModule(a, "UsersRaw")
	if err != nil {
		return nil, fmt.Errorf("users: %w", err)
	}
	if _, own := plugin.(*StoreUsers); own {
		return a.core.Users, nil
	}
	if m, ok := plugin.(caddy.Module); ok {
		a.usersIn = m.CaddyModule().ID.Name()
	}
	dir, ok := plugin.(directory.Source)
	if !ok {
		return nil, fmt.Errorf("users: %T is not a user directory", plugin)
	}
	return pool.Hold(&a.held, dir.Identity(), func() (*lazy.Directory, error) { return lazy.NewDirectory(dir), nil })
}
