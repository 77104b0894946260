package gateway

import (
	"context"
	"log/slog"
	"time"

	"github.com/gatehouse/gatehouse/module/internal/audit"
	"github.com/gatehouse/gatehouse/module/store"
)

const inForcePause = 10 * time.Millisecond // between two looks whether the configuration is in force

// applyInForce does, once the configuration is in force, what its end does not undo. Apps start in no fixed order, and
// one that fails leaves the configuration before in force, for which nothing may have changed.
func applyInForce(a *App) {
	for !a.running() {
		if store.Sleep(a.ctx, inForcePause) != nil {
			return
		}
	}
	leave, err := a.lease.Enter()
	if err != nil {
		return // it is over already
	}
	defer leave()
	a.attached.start()
	ctx := context.WithoutCancel(a.ctx)
	a.trail.Record(ctx, audit.Event{Name: audit.ConfigChanged})
	a.core.ResizeTokenCache(a.TokenCache)
	if limiter, err := a.limiter.Source(ctx); err == nil && a.adjuster != nil {
		if err := a.adjuster.Adjust(limiter); err != nil {
			a.log.Error("the limiter was not adjusted", slog.Any("error", err))
		}
	}
	for pause := time.Second; ; pause = min(2*pause, time.Minute) {
		err := recordClients(ctx, a)
		if err == nil {
			return
		}
		a.log.Warn("which clients are configured is not recorded yet: tokens of those that were removed may be valid", slog.Any("error", err))
		if store.Sleep(a.ctx, pause) != nil {
			return
		}
	}
}

// recordClients records which clients there are, and what registered ones may have. It ends the tokens of clients that
// are no longer configured.
func recordClients(ctx context.Context, a *App) error {
	ctx, cancel := context.WithTimeout(ctx, startTimeout)
	defer cancel()
	if r := a.Registration; r != nil {
		if err := a.clients.Stored.KeepRegistration(ctx, r.Audience); err != nil {
			return err
		}
	}
	return a.clients.EndVanished(ctx, a.issuer.String(), a.trail, a.log)
}
