package gateway

import (
	"log/slog"
	"runtime/debug"

	"github.com/gatehouse/gatehouse/module/internal/gcheadroom"
)

// beginHeadroom has the garbage collector keep a headroom, by default one that fits the memory limit.
func beginHeadroom(configured *int64, log *slog.Logger) (end func()) {
	if configured == nil {
		return gcheadroom.Begin(gcheadroom.ForLimit(debug.SetMemoryLimit(-1)))
	}
	if gcheadroom.Overridden() {
		log.Info("the environment sets GOGC, so gc_headroom is ignored")
	}
	return gcheadroom.Begin(*configured)
}
