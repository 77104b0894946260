package lockout

import "time"

// Rule says how many attempts a key has. A key MUST always be used with the same rule; a caller
// with several rules gives its keys a prefix for each.
type Rule struct {
	Limit  int           // attempts within Window; less than 1 refuses all
	Window time.Duration // exact and sliding: any stretch of this length
	Lock   time.Duration // how long a key is refused after its last permitted attempt; 0: until the window slides
}

// count is the state of one key. Times are relative to the creation of the book.
type count struct {
	rule  Rule
	times []time.Duration // within the window, oldest first, at most Limit
	until time.Duration   // refused before this; 0: not refused
}

// countAttempt counts an attempt, or returns how long the key is refused.
func (c *count) countAttempt(now time.Duration, r Rule) (bool, time.Duration) {
	c.rule = r
	c.settleCount(now)
	if c.until == 0 && len(c.times) >= r.Limit {
		c.startRefusal(now)
	}
	if c.until != 0 {
		return false, c.until - now
	}
	c.times = append(c.times, now)
	if len(c.times) == r.Limit {
		c.startRefusal(now)
	}
	return true, 0
}

func (c *count) startRefusal(now time.Duration) {
	if c.rule.Lock > 0 {
		c.until = now + c.rule.Lock
		return
	}
	c.until = c.times[len(c.times)-c.rule.Limit] + c.rule.Window
}

// giveBack removes the latest attempt and a refusal that it caused.
func (c *count) giveBack(now time.Duration) {
	c.settleCount(now)
	if n := len(c.times); n > 0 {
		c.times = c.times[:n-1]
		if n-1 < c.rule.Limit {
			c.until = 0
		}
	}
}

// settleCount ends a refusal whose time is up and drops attempts that have left the window. After a
// lockout, counting starts anew. While a key is refused its attempts are kept, so that one of them
// can be given back.
func (c *count) settleCount(now time.Duration) {
	if c.until != 0 {
		if now < c.until {
			return
		}
		c.until = 0
		if c.rule.Lock > 0 {
			c.times = nil
		}
	}
	gone := 0
	for gone < len(c.times) && c.times[gone]+c.rule.Window <= now {
		gone++
	}
	c.times = c.times[gone:]
}

// settleAt returns when settling next changes whether the key may be evicted.
func (c *count) settleAt() time.Duration {
	if c.until != 0 {
		return c.until
	}
	return c.times[len(c.times)-1] + c.rule.Window
}
