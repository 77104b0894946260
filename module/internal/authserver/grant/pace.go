package grant

import (
	"sync"
	"time"
)

const (
	// DeviceInterval is the least time between two polls of a device (RFC 8628 section 3.2).
	DeviceInterval = 5 * time.Second
	// maxInterval is where slow_down stops to make it longer.
	maxInterval = time.Minute
	// jitter is by how much a poll may come early: a device counts from the answer, and the
	// network is not always equally fast.
	jitter = time.Second
	// maxPaced bounds the devices whose polls are timed. Those beyond it are served without:
	// being polled too often costs a read each.
	maxPaced = 10_000
	// pacedFor is how long a device is remembered that polls no more: as long as its code
	// lives.
	pacedFor = 10 * time.Minute
)

// pace times the polls of devices on this node. Where each poll may reach another node a
// device is never too fast, which hurts nobody.
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

// keeps reports whether a poll comes as late after the one before as it should. If not, the
// interval is five seconds longer from now on (RFC 8628 section 3.5).
func (p *pace) keeps(ticket string) bool {
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

// forget drops whoever polls no more. It is called at the cap only, and looks once a second.
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
