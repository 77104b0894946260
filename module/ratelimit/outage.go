package ratelimit

import (
	"context"
	"errors"
	"fmt"
)

// Outage is what happens to requests while the counts are out of reach.
type Outage uint8

const (
	// OutageLocal counts in this process, against a share of the limit so small that all nodes
	// together stay within the limit. The default.
	OutageLocal Outage = iota
	// OutageOpen admits every request.
	OutageOpen
	// OutageClosed refuses with [ErrUnavailable], which is answered with 503, not 429.
	OutageClosed
)

// ErrUnavailable: the counts are out of reach, and the request asked for OutageClosed.
var ErrUnavailable = errors.New("ratelimit: the counts cannot be reached")

// ParseOutage reads local, open or closed; "" is local.
func ParseOutage(word string) (Outage, error) {
	outage, ok := map[string]Outage{"": OutageLocal, "local": OutageLocal, "open": OutageOpen, "closed": OutageClosed}[word]
	if !ok {
		return 0, fmt.Errorf("on_outage %q: expected local, open or closed", word)
	}
	return outage, nil
}

// Plugin is implemented by limiter plugins. Configurations with the same Identity share one
// source, its counts and its knowledge of outages, across a reload.
type Plugin interface {
	// Identity returns a comparable value made of everything that shapes the source. It MUST NOT
	// access disk or network.
	Identity() any
	// Open opens the source. It MUST NOT wait for a server: one that cannot be reached is an
	// outage.
	Open(ctx context.Context) (OpenSource, error)
}

// OpenSource is a [Source] that reports its health and can be closed.
type OpenSource interface {
	Source
	// Health returns nil, or why the counts cannot be reached. It MUST NOT wait for a server.
	Health() error
	// Close releases what the source holds; after it Decide fails or falls back.
	Close() error
}
