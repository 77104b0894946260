package grant

import (
	"sync"
	"time"
)

const (
	// DeviceInterval is the least time between two polls of a device (RFC 8628 section 3.2).
	DeviceInterval = 5 * time.Second
	// maxInterval is the longest interval that slow_down leads to.
	maxInterval = time.Minute
	// jitter is by how much a poll may come early: a device counts from the response, and network delays vary.
	jitter = time.Second
	// maxPaced bounds the devices whose polls are limited. Polls of further devices are not limited; each
	// surplus poll costs one read.
	maxPaced = 10_000
	// pacedFor is how long a device is remembered after its last poll: as long as its code lives.
	pacedFor = 10 * time.Minute
)

// pace limits the polls of each device on this node. If each poll reaches another node, a device is never too
// fast, which does no harm.
type pace struct {
	now func() time.Time

	mu    sync.Mutex
	polls map[string]polled
	swept time.Time
}

type polled struct {
	at       time.Time
	interval time.Duration
}

func newPace(now func() time.Time) *pace {
	return &pace{now: now, polls: make(map[string]polled)}
}

// allows reports whether enough time has passed since the poll before. If not, the interval grows by five seconds
// (RFC 8628 section 3.5).
func (p *pace) allows(ticket string) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	now := p.now()
	last, known := p.polls[ticket]
	if !known {
		if len(p.polls) >= maxPaced {
			p.forget(now)
		}
		if len(p.polls) < maxPaced {
			p.polls[ticket] = polled{now, DeviceInterval}
		}
		return true
	}
	ok := now.Sub(last.at) >= last.interval-jitter
	if !ok {
		last.interval = min(last.interval+DeviceInterval, maxInterval)
	}
	p.polls[ticket] = polled{now, last.interval}
	return ok
}

// forget drops devices that have stopped polling. It is called only at the cap, and does its work at most
// once a second.
func (p *pace) forget(now time.Time) {
	if now.Sub(p.swept) < time.Second {
		return
	}
	p.swept = now
	for ticket, last := range p.polls {
		if now.Sub(last.at) >= pacedFor {
			delete(p.polls, ticket)
		}
	}
}
