package ratelimit

import (
	"context"
	"errors"
	"fmt"
)

// Outage is what becomes of requests while the counts are out of reach.
type Outage uint8

const (
	// OutageLocal counts in this process, for so small a part of the limit that all nodes
	// together stay within it. The default.
	OutageLocal Outage = iota
	// OutageOpen admits every request.
	OutageOpen
	// OutageClosed refuses with [ErrUnavailable], which is a 503 and no 429.
	OutageClosed
)

// ErrUnavailable: the counts are out of reach, and the request asked for OutageClosed.
var ErrUnavailable = errors.New("ratelimit: the counts cannot be reached")

// ParseOutage reads local, open or closed; "" is local.
func ParseOutage(word string) (Outage, error) {
	switch word {
	case "", "local":
		return OutageLocal, nil
	case "open":
		return OutageOpen, nil
	case "closed":
		return OutageClosed, nil
	}
	return 0, fmt.Errorf("on_outage %q: expected local, open or closed", word)
}

// Plugin is what a limiter plugin gives the gateway: the source it would open and an
// identity made of everything that shapes it, so that two configurations that name the
// same limiter share one source, its counts and its knowledge of outages across a reload.
type Plugin interface {
	// Identity returns a comparable value. It MUST NOT touch disk or network.
	Identity() any
	// Open makes the source. It MUST NOT wait for a server: one that is away is an outage.
	Open(ctx context.Context) (OpenSource, error)
}

// OpenSource is a [Source] with an end.
type OpenSource interface {
	Source
	// Health is nil, or what keeps the source from the counts. It MUST NOT wait for a server.
	Health() error
	// Close frees what the source holds; Decide fails or falls back after it.
	Close() error
}
