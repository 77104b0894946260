package redis

import "time"

// watch has the lane looked after when so much time has passed. One timer for all that wait costs
// less than one for each of them.
func (l *lane) watch(after time.Duration) {
	switch {
	case l.watched:
		return
	case l.watcher == nil:
		l.watcher = time.AfterFunc(after, l.look)
	default:
		l.watcher.Reset(after)
	}
	l.watched = true
}

// look gives up whose patience has ended, and comes again when that of the next one does.
func (l *lane) look() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.watched = false
	now := l.source.clock()
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
	for _, f := range l.aloft {
		for _, g := range f.batch.groups {
			for _, c := range g.calls {
				if c.state == taken && !later(c.due) {
					c.giveUp(errOpen)
				}
			}
		}
		if !f.judged && !later(f.sent.Add(l.source.patience)) {
			l.judge(f, now)
		}
	}
	for _, c := range l.queue { // which judging may have emptied
		if c.state == waiting && !later(c.due) {
			c.giveUp(errOpen)
		}
	}
	if !next.IsZero() {
		l.watch(next.Sub(now))
	}
}

// unwatch is for the end: flights end of themselves then, and with them all waiting.
func (l *lane) unwatch() {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.watcher != nil {
		l.watcher.Stop()
	}
}

// judge tells the breaker of a flight that has been on its way for too long. That is a failure
// of Redis, which shows here long before the connection says so.
func (l *lane) judge(f *flight, now time.Time) {
	if !f.judged && now.Sub(f.sent) >= l.source.patience {
		f.judged = true
		l.failed(errOpen)
	}
}
