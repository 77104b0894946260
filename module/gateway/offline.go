package gateway

import (
	"github.com/caddyserver/caddy/v2"

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
