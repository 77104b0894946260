package admin

import (
	"context"

	"github.com/gatehouse/gatehouse/module/internal/adminapi"
)

// checkCapacity compares what this node holds with the limits that are configured. deploy/sizing.md has the figures.
func (g *Config) checkCapacity(_ context.Context, out *adminapi.Findings) {
	held, most := g.Revocations.Held()
	addCapacity(out, "revocations in memory", int64(held), int64(most),
		"look for a program that revokes in a loop, and shorten `access`: a revocation is forgotten when the last access token before it has expired; above the limit, revocations become marks of their client")
	if s, ok := g.LimiterMemory(); ok {
		addCapacity(out, "bytes of memory for limits", s.Bytes, s.Size, "raise `size` of `limiter memory`: when it is full, callers share counters")
	}
}

// addCapacity adds a finding about how much of something there is. It warns above four fifths of what there may be.
func addCapacity(out *adminapi.Findings, what string, used, most int64, remedy string) {
	const check, text = "capacity", "%d %s, of at most %d"
	if used >= most-most/5 {
		out.Warn(check, remedy, text, used, what, most)
	} else {
		out.OK(check, text, used, what, most)
	}
}
