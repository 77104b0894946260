package redis

import (
	"time"

	"github.com/gatehouse/gatehouse/module/ratelimit"
)

// useLease decides on a call without Redis, if a lease allows it. Otherwise it notes in the call how
// many equal requests Redis may lease.
func (s *Source) useLease(c *call, r *ratelimit.Request) (v ratelimit.Verdict, ok bool) {
	if s.leases == nil {
		return v, false
	}
	v, ok, c.lease = s.leases.use(c.encodedRequest, r, s.conn.clock())
	if c.lease > 0 {
		s.startReturns.Do(func() { s.conn.spawn(s.giveBackUntilClosed) })
	}
	return v, ok
}

// leasedInstead returns the verdict of a lease for a request that Redis has refused, or the refusal. So
// nobody is refused for what this node holds for equal requests.
func (s *Source) leasedInstead(c *call, r *ratelimit.Request, refusal ratelimit.Verdict) ratelimit.Verdict {
	if s.leases == nil {
		return refusal
	}
	leased := *r
	leased.Results = nil // the refusal's
	if v, ok := s.leases.useAfterRefusal(c.encodedRequest, &leased, s.conn.clock()); ok {
		return v
	}
	return refusal
}

// giveBackUntilClosed gives back, every giveBackEvery, what was leased and not used.
func (s *Source) giveBackUntilClosed() {
	tick := time.NewTicker(giveBackEvery)
	defer tick.Stop()
	for {
		select {
		case <-s.conn.closing.Done():
			return
		case <-tick.C:
			s.giveBackUnused(false)
		}
	}
}

// giveBackUnused gives back what is left of leases that have ended, or of all. If a batch of it fails it is not
// repeated, as the units may have been given back: then they count for a window, as if they had been used.
func (s *Source) giveBackUnused(all bool) {
	batches := make(map[string]*batch) // by the head of their keys, which are in one slot of a cluster
	failed := make(map[string]bool)    // Redis does not answer for these: the others must not wait
	send := func(head string, b *batch) {
		_, err := s.conn.execute(b, s.conn.maxWait)
		failed[head] = err != nil
	}
	for _, u := range s.leases.endLeases(all, s.conn.clock()) {
		if failed[u.head] {
			continue
		}
		b := batches[u.head]
		if b == nil {
			b = newBatch()
			batches[u.head] = b
		}
		b.giveBack(u)
		if len(b.keys) == maxKeys {
			send(u.head, b)
			delete(batches, u.head)
		}
	}
	for head, b := range batches {
		send(head, b)
	}
}
