package attempt

import "time"

// Refused says whether Take would refuse the key now, and counts nothing. It is for
// callers that count failures only: several good attempts of one key may be under
// way at once, and taking and returning each would use up the limit meanwhile.
func (b *Book) Refused(key string, r Rule) (refused bool, retry time.Duration) {
	if r.Limit < 1 {
		return true, max(r.Window, r.Lock)
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	now := b.now().Sub(b.start)
	b.expire(now, 2)
	if e := b.entries[shorten(key)]; e != nil {
		retry = e.refusedFor(now, r)
		b.file(e, now)
		return retry > 0, retry
	}
	for len(b.refused) > 0 && b.refused[0].due <= now {
		b.file(b.refused[0], now)
	}
	if len(b.entries) < b.cap || b.recent.Len() > 0 {
		return false, 0
	}
	retry = b.sharedCount(r).refusedFor(now, r)
	return retry > 0, retry
}

// refusedFor is how long the key is refused, 0 when it is not.
func (c *count) refusedFor(now time.Duration, r Rule) time.Duration {
	c.rule = r
	c.settle(now)
	if c.until == 0 && len(c.times) >= r.Limit {
		c.refuse(now)
	}
	if c.until == 0 {
		return 0
	}
	return c.until - now
}
