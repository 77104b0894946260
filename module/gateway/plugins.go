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
	source, err := loadPlugin[store.Source](ctx, a, "StoreRaw", "store", "a store")
	if err != nil {
		return nil, err
	}
	if s, ok := source.(needsSecret); ok && s.NeedsSecret() && len(a.Secrets) == 0 {
		return nil, errors.New("this store keeps no secret of its own: set the global option `secret` of gatehouse, on all nodes the same, such as `secret {env.GATEHOUSE_SECRET}`")
	}
	return source, nil
}

// loadPlugin loads the module that a field of the app configures.
func loadPlugin[T any](ctx caddy.Context, a *App, field, option, kind string) (plugin T, err error) {
	loaded, err := ctx.LoadModule(a, field)
	if err != nil {
		return plugin, fmt.Errorf("%s: %w", option, err)
	}
	plugin, ok := loaded.(T)
	if !ok {
		return plugin, fmt.Errorf("%s: %T is not %s", option, loaded, kind)
	}
	return plugin, nil
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
// configuration that comes into force applies its own to the source that is open already.
type adjuster interface {
	// Adjust is called with a source that this limiter, or one of the same identity, opened.
	Adjust(open ratelimit.OpenSource) error
}

func (a *App) loadLimiter(ctx caddy.Context, beside store.Source) (*lazy.Limiter, error) {
	limiter := ratelimit.Plugin(new(MemoryLimiter))
	if a.LimiterRaw != nil {
		var err error
		if limiter, err = loadPlugin[ratelimit.Plugin](ctx, a, "LimiterRaw", "limiter", "a limiter"); err != nil {
			return nil, err
		}
		if b, ok := limiter.(besideStore); ok {
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
	plugin, err := loadPlugin[caddy.Module](ctx, a, "UsersRaw", "users", "a module")
	if err != nil {
		return nil, err
	}
	if _, own := plugin.(*StoreUsers); own {
		return a.core.Users, nil
	}
	dir, ok := plugin.(directory.Source)
	if !ok {
		return nil, fmt.Errorf("users: %T is not a user directory", plugin)
	}
	a.usersIn = plugin.CaddyModule().ID.Name()
	made := false
	users, err := pool.Hold(&a.held, dir.Identity(), func() (*lazy.Directory, error) {
		made = true
		return lazy.NewDirectory(dir), nil
	})
	if d, ok := dir.(interface{ Discard() }); ok && !made {
		d.Discard() // another configuration has opened the directory: what this one has read is not needed
	}
	return users, err
}
