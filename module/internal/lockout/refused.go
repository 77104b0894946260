package lockout

import "time"

// Refused reports whether Take would refuse the key now, without counting. It is for callers that
// count failures only: several valid attempts for one key may be in progress at once, and taking
// and returning each would exhaust the limit meanwhile.
func (b *Book) Refused(key string, r Rule) (refused bool, retry time.Duration) {
	if r.Limit < 1 {
		return true, max(r.Window, r.Lock)
	}
	return b.shardOf(key).refusedNow(shortenKey(key), r)
}

func (s *shard) refusedNow(key string, r Rule) (refused bool, retry time.Duration) {
	s.mu.Lock()
	defer s.mu.Unlock()
	now := s.now().Sub(s.start)
	s.expireEntries(now, 2)
	if e := s.entries[key]; e != nil {
		retry = e.refusedFor(now, r)
		s.fileEntry(e, now)
		return retry > 0, retry
	}
	return false, 0
}

// refusedFor returns how long the key is still refused, or 0.
func (c *count) refusedFor(now time.Duration, r Rule) time.Duration {
	c.rule = r
	c.settleCount(now)
	if c.until == 0 && len(c.times) >= r.Limit {
		c.startRefusal(now)
	}
	if c.until == 0 {
		return 0
	}
	return c.until - now
}
