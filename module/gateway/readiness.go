package gateway

import (
	"context"
	"time"

	"github.com/gatehouse/gatehouse/module/internal/admin"
	"github.com/gatehouse/gatehouse/module/internal/adminapi"
	"github.com/gatehouse/gatehouse/module/internal/metrics"
	"github.com/gatehouse/gatehouse/module/internal/token"
)

func init() { metrics.AskState(runningState) }

// readiness looks at what this node depends on. Whoever calls it holds the app's lease.
func (a *App) readiness(ctx context.Context) adminapi.Readiness {
	found := a.core.probe.ask(ctx, a.lease.Enter)
	return adminapi.Sum(
		storePart(found), partOf(adminapi.PartKeys, found.keys), a.revocationPart(), a.limiterPart(ctx),
	)
}

func storePart(found pulse) adminapi.Part {
	p := partOf(adminapi.PartStore, found.store)
	if found.store == nil && found.degraded != nil {
		p.State, p.Message = adminapi.StateDegraded, "it answers, but: "+admin.WithoutCredentials(found.degraded)
	}
	return p
}

func partOf(name string, err error) adminapi.Part {
	if err != nil {
		return adminapi.Part{Part: name, State: adminapi.StateFailing, Message: admin.WithoutCredentials(err)}
	}
	return adminapi.Part{Part: name, State: adminapi.StateOK}
}

// revocationPart fails when guards answer 503 for want of the feed.
func (a *App) revocationPart() adminapi.Part {
	_, err := a.core.revocations.Check(&token.Access{})
	p := partOf(adminapi.PartRevocations, err)
	since, known := a.core.revocations.Staleness()
	if known {
		seconds := since.Round(time.Millisecond).Seconds()
		p.StaleSeconds = &seconds
	}
	if err == nil && since > 0 {
		p.State, p.Message = adminapi.StateDegraded, "the feed is lost; what was known serves for a while"
	}
	return p
}

// limiterPart is about a limiter that is away: what that means to requests each api_limit
// says, and only those that it refuses keep the node from being ready.
func (a *App) limiterPart(ctx context.Context) adminapi.Part {
	p := partOf(adminapi.PartLimiter, a.limiter.Health(ctx))
	if p.State == adminapi.StateFailing && !a.limitsClose {
		p.State = adminapi.StateDegraded
	}
	return p
}

// runningState is for the metrics, with the same bound on what they cost the store.
func runningState() (metrics.State, bool) {
	app, leave, err := runningApp()
	if err != nil {
		return metrics.State{}, false
	}
	defer leave()
	ctx, cancel := context.WithTimeout(context.Background(), probeTimeout)
	defer cancel()
	s := metrics.State{StoreUp: app.core.probe.ask(ctx, app.lease.Enter).store == nil, LimiterUp: app.limiter.Health(ctx) == nil, PollsWaiting: app.tickets.Waiting(), JobsUnfinished: app.attached.backlog()}
	if held, ok := app.limiter.Stats(); ok {
		s.LimiterMemory = &metrics.LimiterMemory{Keys: held.Keys, Bytes: held.Bytes, Size: held.Size, Folded: held.Folded}
	}
	s.RevocationStaleness, s.RevocationsKnown = app.core.revocations.Staleness()
	return s, true
}
