package admin

import (
	"context"
	"maps"
	"slices"

	"github.com/gatehouse/gatehouse/module/internal/adminapi"
)

// examiner is implemented by an open store or limiter that is served from elsewhere.
type examiner interface {
	// Examine returns what an operator should change about the server, and how: the remedy
	// by what loses or refuses something now, and by what might. An error says that it
	// could not look. It MUST return soon after ctx ends, and no text may hold a credential.
	Examine(ctx context.Context) (wrong, risky map[string]string, err error)
}

// lookAtStoreServer has the store say what of its server puts its records at risk.
func lookAtStoreServer(ctx context.Context, g *Config) []adminapi.Finding {
	backend, err := g.OpenStore(ctx)
	if err != nil {
		return nil // said already
	}
	return remarks(ctx, "store server", backend)
}

// lookAtLimiter reports a limiter that is away, and what its server may forget.
func lookAtLimiter(ctx context.Context, g *Config) []adminapi.Finding {
	const check = "limiter"
	source, err := g.OpenLimiter(ctx)
	if err == nil {
		err = source.Health()
	}
	switch {
	case err != nil && g.LimitsFailClosed:
		return []adminapi.Finding{adminapi.Broken(check, "look at the server that the global option `limiter` names and at the way to it; until it is back an api_limit with `on_outage closed` answers 503",
			"the limiter does not reach its counts: %s", WithoutCredentials(err))}
	case err != nil:
		return []adminapi.Finding{adminapi.Warned(check, "look at the server that the global option `limiter` names and at the way to it; until it is back `on_outage` decides",
			"the limiter does not reach its counts: %s", WithoutCredentials(err))}
	}
	return append([]adminapi.Finding{adminapi.Fine(check, "the limiter reaches its counts")},
		remarks(ctx, "limiter server", source)...)
}

// remarks has what is open elsewhere examined, if it can be.
func remarks(ctx context.Context, check string, opened any) []adminapi.Finding {
	e, ok := opened.(examiner)
	if !ok {
		return nil
	}
	wrong, risky, err := e.Examine(ctx)
	if err != nil {
		return []adminapi.Finding{adminapi.Warned(check, "see that it can be reached and that the gateway's user there may run INFO", "the server could not be looked at: %s", WithoutCredentials(err))}
	}
	var out []adminapi.Finding
	for _, what := range slices.Sorted(maps.Keys(wrong)) {
		out = append(out, adminapi.Broken(check, wrong[what], "%s", what))
	}
	for _, what := range slices.Sorted(maps.Keys(risky)) {
		out = append(out, adminapi.Warned(check, risky[what], "%s", what))
	}
	if len(out) == 0 {
		out = append(out, adminapi.Fine(check, "nothing to remark about the server"))
	}
	return out
}
