package admin

import (
	"context"
	"maps"
	"slices"

	"github.com/gatehouse/gatehouse/module/internal/adminapi"
	"github.com/gatehouse/gatehouse/module/store"
)

// examiner is implemented by an open store or limiter that is served from elsewhere, and by one in a file.
type examiner interface {
	// Examine returns what an operator should change about the server or the file, and how: the remedy
	// by what loses or refuses something now, and by what might. An error says that it
	// could not look. It MUST return soon after ctx ends, and no text may hold a credential.
	Examine(ctx context.Context) (wrong, risky map[string]string, err error)
}

// checkStoreServer reports what puts the records of a remote store at risk, or makes a file slow.
func (g *Config) checkStoreServer(ctx context.Context, out *adminapi.Findings) {
	backend, _ := g.OpenStore(ctx) // checkStore reports the error
	if _, ok := backend.(store.Snapshotter); !ok {
		checkServer(ctx, "store server", backend, out)
		return
	}
	if e, ok := backend.(examiner); ok {
		wrong, risky, _ := e.Examine(ctx) // a file that cannot be read is in the findings of checkStore
		addExamined("state file", wrong, risky, out)
	}
}

// checkLimiter reports a limiter that is away, and what its server may forget.
func (g *Config) checkLimiter(ctx context.Context, out *adminapi.Findings) {
	const check, remedy = "limiter", "look at the server that the global option `limiter` names and at the way to it; until it is back "
	source, err := g.OpenLimiter(ctx)
	if err == nil {
		err = source.Health()
	}
	switch {
	case err != nil && g.LimitsFailClosed:
		out.Fail(check, remedy+"an api_limit with `on_outage closed` answers 503", "the limiter does not reach its counts: %s", WithoutCredentials(err))
	case err != nil:
		out.Warn(check, remedy+"`on_outage` decides", "the limiter does not reach its counts: %s", WithoutCredentials(err))
	default:
		out.OK(check, "the limiter reaches its counts")
		checkServer(ctx, "limiter server", source, out)
	}
}

// checkServer has an open store or limiter examine its server, if it has one.
func checkServer(ctx context.Context, check string, opened any, out *adminapi.Findings) {
	e, ok := opened.(examiner)
	if !ok {
		return
	}
	wrong, risky, err := e.Examine(ctx)
	if err != nil {
		out.Warn(check, "see that it can be reached and that the gateway's user there may run INFO", "the server could not be looked at: %s", WithoutCredentials(err))
		return
	}
	addExamined(check, wrong, risky, out)
	if len(wrong)+len(risky) == 0 {
		out.OK(check, "nothing to remark about the server")
	}
}

func addExamined(check string, wrong, risky map[string]string, out *adminapi.Findings) {
	for _, what := range slices.Sorted(maps.Keys(wrong)) {
		out.Fail(check, wrong[what], "%s", what)
	}
	for _, what := range slices.Sorted(maps.Keys(risky)) {
		out.Warn(check, risky[what], "%s", what)
	}
}

// checkPolls warns when few more polls can wait. It reports nothing while none waits.
func (g *Config) checkPolls(_ context.Context, out *adminapi.Findings) {
	const waiting = "%s waiting until somebody confirms on a second device, of at most %d"
	n, most := g.Tickets.Waiting(), g.Tickets.MaxWaiting
	switch {
	case n >= most/5*4:
		out.Warn("polls", "look at whose they are in the access log; above the maximum polls are answered 503 at once", waiting, adminapi.Count(n, "poll"), most)
	case n > 0:
		out.OK("polls", waiting, adminapi.Count(n, "poll"), most)
	}
}
