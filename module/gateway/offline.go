package gateway

import (
	"context"
	"io"
	"time"

	"github.com/caddyserver/caddy/v2"

	"github.com/gatehouse/gatehouse/module/directory"
	"github.com/gatehouse/gatehouse/module/internal/keyring"
	"github.com/gatehouse/gatehouse/module/store"
)

// OfflineStore returns the store of a configuration that is not running, unopened, and the configured secrets: nil if the
// store keeps its own.
func (a *App) OfflineStore(ctx caddy.Context) (store.Source, [][]byte, error) {
	secrets, err := resolveSecrets(a.Secrets, caddy.NewReplacer())
	if err != nil {
		return nil, nil, err
	}
	source, err := a.loadStore(ctx)
	return source, secrets, err
}

// openTimeout is how long TryStore and TryUsers wait for a server.
const openTimeout = 10 * time.Second

// TryStore reads from the store of a configuration that is not running. It fails with secret.ErrForged if the
// configured secrets cannot open the store's signing keys. It leaves a store in a file of this machine alone, which a
// gateway may have open. It uses up the configuration.
func TryStore(ctx caddy.Context, a *App) error {
	source, secrets, err := a.OfflineStore(ctx)
	if err != nil {
		return err
	}
	if s, ok := source.(needsSecret); !ok || !s.NeedsSecret() {
		return nil
	}
	bounded, cancel := context.WithTimeout(ctx, openTimeout)
	defer cancel()
	opened, err := source.Open(bounded)
	if err != nil {
		return err
	}
	defer closeTried(opened)
	return keyring.CheckStored(bounded, opened, secrets...) // some stores connect when they are first asked
}

// TryUsers is TryStore for the directory of users, in a file or on a server.
func TryUsers(ctx caddy.Context, a *App) error {
	if a.UsersRaw == nil {
		return nil
	}
	plugin, err := loadPlugin[caddy.Module](ctx, a, "UsersRaw", "users", "a module")
	if err != nil {
		return err
	}
	source, ok := plugin.(directory.Source)
	if !ok {
		return nil // the store
	}
	bounded, cancel := context.WithTimeout(ctx, openTimeout)
	defer cancel()
	opened, err := source.Open(bounded)
	closeTried(opened)
	return err
}

func closeTried(opened any) {
	if c, ok := opened.(io.Closer); ok {
		_ = c.Close()
	}
}
