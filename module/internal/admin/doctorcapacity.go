package admin

import (
	"context"

	"github.com/gatehouse/gatehouse/module/internal/adminapi"
	"github.com/gatehouse/gatehouse/module/internal/clientstore"
	"github.com/gatehouse/gatehouse/module/internal/token"
)

// capacity is the name of the check.
const capacity = "capacity"

// checkCapacity compares what this node and the store hold with the limits that are configured. deploy/sizing.md has
// the figures.
func (g *Config) checkCapacity(ctx context.Context, out *adminapi.Findings) {
	held, most := g.Revocations.Held()
	addCapacity(out, "revocations in memory", int64(held), int64(most),
		"look for a program that revokes in a loop, and shorten `access`: a revocation is forgotten when the last access token before it has expired; above the limit, revocations become marks of their client")
	if s, ok := g.LimiterMemory(); ok {
		addCapacity(out, "bytes of memory for limits", s.Bytes, s.Size, "raise `size` of `limiter memory`: when it is full, callers share counters")
	}
	addTokenCache(out, g.TokenCache())
	g.checkClientCapacity(ctx, out)
	if d, ok := g.Users.(interface {
		Size(context.Context) (used, most int64, ok bool)
	}); ok {
		if used, most, ok := d.Size(ctx); ok {
			addCapacity(out, "bytes in the file of users", used, most,
				"keep users in the store (`users store`, `caddy gatehouse user import`), or raise `max_size` of `users file`: a larger file is not read")
		}
	}
}

// checkClientCapacity counts the clients in the store.
func (g *Config) checkClientCapacity(ctx context.Context, out *adminapi.Findings) {
	if g.Registrations > 0 {
		if n, err := g.Stored.Places(ctx); err == nil { // else checkClients reports it
			addCapacity(out, "clients that registered themselves", int64(n), int64(g.Registrations),
				"delete unused ones, or raise `max` of `registration`: above it nobody can register")
		}
	}
	n, err := g.Stored.Count(ctx, clientstore.MaxSeen)
	if err != nil {
		out.Warn(capacity, "look at the store", "the clients in the store cannot be counted: %v", err)
		return
	}
	addCapacity(out, "clients in the store", int64(n), clientstore.MaxSeen,
		"delete unused clients: guards remember at most this many, and while the store is unreachable they answer 503 for the others")
}

// addTokenCache adds a finding about the verified tokens. A full cache is as it should be, unless many of the tokens
// that come are not in it.
func addTokenCache(out *adminapi.Findings, s token.CacheStats) {
	const text = "%d bytes of memory for %d verified tokens, of at most %d bytes; of %d requests %d had to verify theirs"
	all := s.Hits + s.Misses
	if s.Bytes >= s.Size-s.Size/5 && s.Misses > all/5 {
		out.Warn(capacity, "raise `token_cache`, unless most tokens are used only once: a token that is not remembered costs a signature", text, s.Bytes, s.Tokens, s.Size, all, s.Misses)
	} else {
		out.OK(capacity, text, s.Bytes, s.Tokens, s.Size, all, s.Misses)
	}
}

// addCapacity adds a finding about how much of something there is. It warns above four fifths of what there may be.
func addCapacity(out *adminapi.Findings, what string, used, most int64, remedy string) {
	const text = "%d %s, of at most %d"
	if used >= most-most/5 {
		out.Warn(capacity, remedy, text, used, what, most)
	} else {
		out.OK(capacity, text, used, what, most)
	}
}
