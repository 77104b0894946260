package admin

import (
	"context"

	"github.com/gatehouse/gatehouse/module/internal/adminapi"
)

// checkLoadedFiles reports the files that the configuration does not follow: Caddy skips a reload of an unchanged one.
func (g *Config) checkLoadedFiles(_ context.Context, out *adminapi.Findings) {
	for _, path := range g.ChangedFiles() {
		out.Warn("reload", "run `caddy reload --force`; without --force Caddy skips a configuration that is unchanged itself",
			"%s has changed since the configuration was loaded: what it had then is in force", path)
	}
}
