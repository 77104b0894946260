package gateway

import (
	"context"

	"github.com/gatehouse/gatehouse/module/internal/adminapi"
	"github.com/gatehouse/gatehouse/module/internal/metrics"
	"github.com/gatehouse/gatehouse/module/internal/readiness"
)

func init() { metrics.AskState(runningState) }

// readiness examines what this node depends on. The caller holds the app's lease.
func (a *App) readiness(ctx context.Context) adminapi.Readiness {
	return readiness.Sum(a.core.Probe.Ask(ctx, a.lease.Enter), a.core.Revocations, a.limiter.Health(ctx), a.limitsClose)
}

// runningState is for the metrics, with the same bound on what they cost the store.
func runningState() (metrics.State, bool) {
	app, leave, err := runningApp()
	if err != nil {
		return metrics.State{}, false
	}
	defer leave()
	ctx, cancel := context.WithTimeout(context.Background(), readiness.Timeout)
	defer cancel()
	found, limiter := app.core.Probe.Ask(ctx, app.lease.Enter), app.limiter.Health(ctx)
	s := metrics.State{
		Ready:   readiness.Sum(found, app.core.Revocations, limiter, app.limitsClose).Ready,
		StoreUp: found.Store == nil, StoreDegraded: found.Store == nil && found.Degraded != nil, LimiterUp: limiter == nil,
		PollsWaiting: app.tickets.Waiting(), JobsUnfinished: app.attached.backlog(),
	}
	s.TokenCache = metrics.TokenCache(app.core.TokenCache())
	if held, ok := app.limiter.Stats(); ok {
		s.LimiterMemory = &metrics.LimiterMemory{Keys: held.Keys, Bytes: held.Bytes, Size: held.Size, Folded: held.Folded}
	}
	s.Revocations, s.RevocationsMax = app.core.Revocations.Held()
	s.RevocationStaleness, s.RevocationsKnown = app.core.Revocations.Staleness()
	return s, true
}
