package redis

import (
	"errors"
	"time"

	"github.com/gatehouse/gatehouse/module/ratelimit"
)

// answer is what the script says about n asks that are alike.
type answer struct {
	at       int64 // the time of the decision, in ms since the epoch
	asked    int   // n
	admitted int   // the first so many of them
	counts   []count
}

// count is what it says about one of their charges, after all of them were settled.
type count struct {
	total int64 // units that count
	free  int64 // ms until one more is available
	retry int64 // ms until one refused request fits, if one was refused
	took  int   // how many of the admitted fitted; in a dry run that can be fewer
	// shared means that the units may be those of several callers.
	shared bool
}

var errReply = errors.New("limiter redis: the script's reply is malformed")

// violated reports whether charge i did not fit when ask number nth of the n was decided.
func (a *answer) violated(k *ask, i, nth int) bool {
	c := &a.counts[i]
	if nth < a.admitted {
		return nth >= c.took
	}
	return c.total > k.charges[i].limit-k.cost
}

// verdict says what becomes of ask number nth, which is what it would have been had the n been
// decided one by one. later is how long ago the decision was made.
func (a *answer) verdict(k *ask, r *ratelimit.Request, nth int, later time.Duration) ratelimit.Verdict {
	v := ratelimit.Verdict{Admitted: nth < a.admitted, At: time.UnixMilli(a.at).Add(later), Results: r.Results[:0]}
	for i := range a.counts {
		c, p := &a.counts[i], r.Charges[i].Policy
		left := p.Limit - c.total
		violated := a.violated(k, i, nth)
		if v.Admitted && !violated {
			left += int64(c.took-1-nth) * k.cost
		}
		out := ratelimit.Result{Policy: p, Limit: p.Limit, Remaining: max(0, left), Violated: violated, Shared: c.shared}
		free := time.Duration(c.free) * time.Millisecond
		if violated {
			out.Retry = ratelimit.Never
			if k.cost <= p.Limit {
				free = time.Duration(c.retry) * time.Millisecond
				out.Retry = max(0, free-later)
			}
		}
		out.Reset = v.At.Add(max(0, free-later))
		v.Results = append(v.Results, out)
	}
	return v
}

// refusedFor is how long after the decision an equal ask cannot be admitted; a negative
// duration is for ever, 0 is not known.
func (a *answer) refusedFor(k *ask) (d time.Duration) {
	if a.admitted >= a.asked {
		return 0
	}
	for i := range a.counts {
		c := &k.charges[i]
		switch {
		case c.dry || !a.violated(k, i, a.admitted):
		case k.cost > c.limit:
			return -1
		default:
			d = max(d, time.Duration(a.counts[i].retry)*time.Millisecond)
		}
	}
	return d
}
