package admin

import (
	"context"
	"slices"

	"github.com/gatehouse/gatehouse/module/internal/adminapi"
)

// lookAtPolls reports when there is hardly room for another poll that hangs. It says
// nothing where nobody waits.
func lookAtPolls(_ context.Context, g *Config) []adminapi.Finding {
	n, most := g.Tickets.Waiting(), g.Tickets.MaxWaiting
	switch {
	case n >= most/5*4:
		return []adminapi.Finding{adminapi.Warned("polls", "look at whose they are in the access log; above the maximum polls are answered 503 at once",
			"%s waiting until somebody confirms on a second device, of at most %d", adminapi.Count(n, "poll"), most)}
	case n > 0:
		return []adminapi.Finding{adminapi.Fine("polls", "%s waiting until somebody confirms on a second device, of at most %d", adminapi.Count(n, "poll"), most)}
	}
	return nil
}

// speaksVariantB reports whether a client does, and so has browsers that poll.
func (g *Config) speaksVariantB(ctx context.Context) bool {
	ctx, cancel := context.WithTimeout(ctx, examineTimeout)
	defer cancel()
	all, _ := g.everyClient(ctx) // what cannot be read is said of the clients
	return slices.ContainsFunc(all, func(c adminapi.Client) bool { return c.VariantB })
}
