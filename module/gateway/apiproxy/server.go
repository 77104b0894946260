package apiproxy

import (
	"sync/atomic"
	"time"

	"github.com/gatehouse/gatehouse/module/internal/http1"
	"github.com/gatehouse/gatehouse/module/internal/metrics"
)

// server is one of the servers behind a proxy.
type server struct {
	address

	text      string // as configured
	failures  metrics.Counter
	transport *http1.Transport
	active    atomic.Int64 // requests in progress
	outUntil  atomic.Int64 // when it is tried again, in nanoseconds of Unix time; 0: it is not out
}

// maxServers is how many servers a set of those that were tried has bits for.
const maxServers = 64

// choose returns the server for a request, and nil if all were tried. Servers that could not be
// reached lately come last, the one that has been out for longest before the others.
func (p *Proxy) choose(tried uint64, now time.Time) (*server, int) {
	if len(p.servers) == 1 {
		if tried != 0 {
			return nil, 0
		}
		return p.servers[0], 0
	}
	first, servers := p.next.Add(1), uint32(len(p.servers))
	best, at := (*server)(nil), 0
	for i := range p.servers {
		n := int((first + uint32(i)) % servers)
		if s := p.servers[n]; tried&(1<<n) == 0 && (best == nil || p.isBetter(s, best, now.UnixNano())) {
			best, at = s, n
		}
	}
	return best, at
}

// isBetter reports whether a server is preferred to one that stands before it.
func (p *Proxy) isBetter(s, before *server, now int64) bool {
	mine, its := s.outUntil.Load(), before.outUntil.Load()
	switch {
	case mine > now || its > now:
		return mine < its
	case p.Policy == "least_conn":
		return s.active.Load() < before.active.Load()
	}
	return false
}

// leaveOut notes that a server could not be reached.
func (s *server) leaveOut(until time.Time) { s.outUntil.Store(until.UnixNano()) }
