package gateway

import (
	"encoding/json"
	"errors"
	"fmt"

	"github.com/caddyserver/caddy/v2"

	"github.com/gatehouse/gatehouse/module/directory"
	"github.com/gatehouse/gatehouse/module/store"
)

func (a *App) loadStore(ctx caddy.Context) (store.Source, error) {
	if a.StoreRaw == nil {
		if _, err := caddy.GetModule("gatehouse.stores.bolt"); err != nil {
			return nil, errors.New("no store is configured and the default one, the module gatehouse.stores.bolt, is not part of this build: add the plugin plugins/store/bolt, or name another store")
		}
		a.StoreRaw = json.RawMessage(`{"type":"bolt"}`)
	}
	guest, err := ctx.LoadModule(a, "StoreRaw")
	if err != nil {
		return nil, fmt.Errorf("store: %w", err)
	}
	source, ok := guest.(store.Source)
	if !ok {
		return nil, fmt.Errorf("store: %T is not a store", guest)
	}
	return source, nil
}

func (a *App) loadUsers(ctx caddy.Context) (directory.Directory, error) {
	if a.UsersRaw == nil {
		return a.core.users, nil
	}
	guest, err := ctx.LoadModule(a, "UsersRaw")
	if err != nil {
		return nil, fmt.Errorf("users: %w", err)
	}
	if _, own := guest.(*StoreUsers); own {
		return a.core.users, nil
	}
	if m, ok := guest.(caddy.Module); ok {
		a.usersIn = m.CaddyModule().ID.Name()
	}
	dir, ok := guest.(directory.Source)
	if !ok {
		return nil, fmt.Errorf("users: %T is not a user directory", guest)
	}
	return hold(&a.held, directories, dir.Identity(), func() (*lazyDirectory, error) { return &lazyDirectory{source: dir}, nil })
}
