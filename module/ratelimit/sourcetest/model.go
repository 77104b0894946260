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

// admittedIn sums up what was admitted in the closed stretch of length d before now.
func (m *model) admittedIn(now, d int64) (sum int64) {
	for _, u := range m.log {
		if now-u.at <= d {
			sum += u.cost
		}
	}
	return sum
}

// slotLength is the length of a slot: a 60th of the window, rounded up.
func (m *model) slotLength() int64 { return (m.policy.Window.Milliseconds() + 59) / 60 }

// unitEnd is when a unit must cease to count: a window after the end of its slot.
func (m *model) unitEnd(u unit) int64 {
	return (u.at/m.slotLength()+1)*m.slotLength() + m.policy.Window.Milliseconds()
}

func (m *model) countedAt(now int64) (sum int64) {
	for _, u := range m.log {
		if m.unitEnd(u) > now {
			sum += u.cost
		}
	}
	return sum
}

// nextFit is the first time from now on at which cost fits, if ever.
func (m *model) nextFit(now, cost int64) int64 {
	for _, u := range append([]unit{{at: -1 << 40}}, m.log...) {
		if at := max(now, m.unitEnd(u)); m.countedAt(at)+cost <= m.policy.Limit {
			return at
		}
	}
	return -1
}

// nextRoom is the first time at which there is more room than now.
func (m *model) nextRoom(now int64) int64 {
	left := max(0, m.policy.Limit-m.countedAt(now))
	for _, u := range m.log {
		if at := m.unitEnd(u); at > now && m.policy.Limit-m.countedAt(at) > left {
			return at
		}
	}
	return now
}

// expectedResult is what a source must say after the request was settled.
func (m *model) expectedResult(now, cost int64, violated bool) ratelimit.Result {
	r := ratelimit.Result{
		Policy:    m.policy,
		Limit:     m.policy.Limit,
		Remaining: max(0, m.policy.Limit-m.countedAt(now)),
		Violated:  violated,
		Reset:     time.UnixMilli(m.nextRoom(now)),
	}
	if violated {
		if at := m.nextFit(now, cost); at < 0 {
			r.Retry = ratelimit.Never
		} else {
			r.Retry = time.Duration(at-now) * time.Millisecond
			r.Reset = time.UnixMilli(at)
		}
	}
	return r
}
