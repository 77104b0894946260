package gateway

import (
	"log/slog"
	"sync/atomic"
	"time"
)

// forgeryLog warns of addresses that present many forged tokens, at most one line in 10
// seconds: with many addresses a line for each would let strangers fill the log.
type forgeryLog struct{ last atomic.Int64 }

const forgeryLogged = 10 * time.Second

func (f *forgeryLog) warn(log *slog.Logger, address string) {
	now, last := time.Now().UnixNano(), f.last.Load()
	if now-last > int64(forgeryLogged) && f.last.CompareAndSwap(last, now) {
		log.Warn("an address presents many forged tokens; they are answered with 401, and nothing else from there is refused", "address", address)
	}
}

// WarnForgeries logs to log, a guard's, that an address presents many forged tokens.
func (a *App) WarnForgeries(log *slog.Logger, address string) { a.forgeries.warn(log, address) }
