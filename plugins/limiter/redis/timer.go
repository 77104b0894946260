package redis

import "time"

// setTimer makes expireCalls run after a while. One timer for all waiting calls costs less
// than one for each.
func (p *pipeline) setTimer(after time.Duration) {
	switch {
	case p.timerSet:
		return
	case p.timer == nil:
		p.timer = time.AfterFunc(after, p.expireCalls)
	default:
		p.timer.Reset(after)
	}
	p.timerSet = true
}

// expireCalls gives up the calls that have waited for maxWait, and sets the timer for the
// next one that will.
func (p *pipeline) expireCalls() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.timerSet = false
	now := p.conn.clock()
	var next time.Time
	later := func(due time.Time) bool {
		if !now.Before(due) {
			return false
		}
		if next.IsZero() || due.Before(next) {
			next = due
		}
		return true
	}
	for _, b := range p.inFlight {
		for _, g := range b.groups {
			for _, c := range g.calls {
				if c.state == callSent && !later(c.due) {
					c.giveUp(errTimeout)
				}
			}
		}
		if !b.countedLate && !later(b.sent.Add(p.conn.maxWait)) {
			p.countIfLate(b, now)
		}
	}
	for _, c := range p.queue { // countIfLate may have emptied it
		if c.state == callWaiting && !later(c.due) {
			c.giveUp(errTimeout)
		}
	}
	if !next.IsZero() {
		p.setTimer(next.Sub(now))
	}
}
