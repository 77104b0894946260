package sourcetest

import (
	"time"

	"github.com/gatehouse/gatehouse/module/ratelimit"
)

// unit is something that was admitted.
type unit struct{ at, cost int64 }

// model is the log of one key, kept in full and searched by brute force.
type model struct {
	policy *ratelimit.Policy
	log    []unit
}

// last sums up what was admitted in the closed stretch of length d before now.
func (m *model) last(now, d int64) (sum int64) {
	for _, u := range m.log {
		if now-u.at <= d {
			sum += u.cost
		}
	}
	return sum
}

// slot is the length of a slot: a 60th of the window, rounded up.
func (m *model) slot() int64 { return (m.policy.Window.Milliseconds() + 59) / 60 }

// ends is when a unit must cease to count: a window after the end of its slot.
func (m *model) ends(u unit) int64 {
	return (u.at/m.slot()+1)*m.slot() + m.policy.Window.Milliseconds()
}

func (m *model) counts(now int64) (sum int64) {
	for _, u := range m.log {
		if m.ends(u) > now {
			sum += u.cost
		}
	}
	return sum
}

// room is the first time from now on at which cost fits, if ever.
func (m *model) room(now, cost int64) int64 {
	for _, u := range append([]unit{{at: -1 << 40}}, m.log...) {
		if at := max(now, m.ends(u)); m.counts(at)+cost <= m.policy.Limit {
			return at
		}
	}
	return -1
}

// more is the first time at which there is more room than now.
func (m *model) more(now int64) int64 {
	left := max(0, m.policy.Limit-m.counts(now))
	for _, u := range m.log {
		if at := m.ends(u); at > now && m.policy.Limit-m.counts(at) > left {
			return at
		}
	}
	return now
}

// result is what a source must say after the request was settled.
func (m *model) result(now, cost int64, violated bool) ratelimit.Result {
	r := ratelimit.Result{
		Policy:    m.policy,
		Limit:     m.policy.Limit,
		Remaining: max(0, m.policy.Limit-m.counts(now)),
		Violated:  violated,
		Reset:     time.UnixMilli(m.more(now)),
	}
	if violated {
		if at := m.room(now, cost); at < 0 {
			r.Retry = ratelimit.Never
		} else {
			r.Retry = time.Duration(at-now) * time.Millisecond
			r.Reset = time.UnixMilli(at)
		}
	}
	return r
}
