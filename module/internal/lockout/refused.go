package lockout

import "time"

// Refused says whether Take would refuse the key now, and counts nothing. It is for
// callers that count failures only: several good attempts of one key may be under
// way at once, and taking and returning each would use up the limit meanwhile.
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
	for len(s.refused) > 0 && s.refused[0].due <= now {
		s.fileEntry(s.refused[0], now)
	}
	if len(s.entries) < s.cap || s.recent.Len() > 0 {
		return false, 0
	}
	retry = s.sharedCount(r).refusedFor(now, r)
	return retry > 0, retry
}

// refusedFor is how long the key is refused, 0 when it is not.
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
