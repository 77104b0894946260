package redis

import (
	"errors"
	"time"

	"github.com/gatehouse/gatehouse/module/ratelimit"
)

// answer is what the script says about a group of like requests.
type answer struct {
	at       int64 // the time of the decision, in ms since the epoch
	asked    int   // how many requests
	admitted int   // the first so many of them
	counts   []chargeCount
}

// chargeCount is what it says about one of their charges, after all were decided.
type chargeCount struct {
	total  int64 // units that count
	free   int64 // ms until one more is available
	retry  int64 // ms until one refused request fits, if one was refused
	fitted int   // how many of the admitted were within the limit; in a dry run that can be fewer
	// shared means that several callers may have caused the units.
	shared bool
}

var errReply = errors.New("limiter redis: the script's reply is malformed")

// violated reports whether charge i was above its limit when the request was decided that
// has this index in its group.
func (a *answer) violated(k *encodedRequest, i, index int) bool {
	c := &a.counts[i]
	if index < a.admitted {
		return index >= c.fitted
	}
	return c.total > k.charges[i].limit-k.cost
}

// verdict returns the verdict on the request with this index in its group, which is what it
// would have been had they been decided one by one. later is how long ago that was.
func (a *answer) verdict(k *encodedRequest, r *ratelimit.Request, index int, later time.Duration) ratelimit.Verdict {
	v := ratelimit.Verdict{Admitted: index < a.admitted, At: time.UnixMilli(a.at).Add(later), Results: r.Results[:0]}
	for i := range r.Charges {
		c, p := &a.counts[i], r.Charges[i].Policy
		left := p.Limit - c.total
		retry := time.Duration(c.retry)*time.Millisecond - later
		violated := a.violated(k, i, index)
		if later > 0 && retry <= 0 && k.cost <= p.Limit {
			violated = false // another policy still refuses it
		}
		if v.Admitted && !violated {
			left += int64(c.fitted-1-index) * k.cost
		}
		out := ratelimit.Result{Policy: p, Limit: p.Limit, Remaining: max(0, left), Violated: violated, Shared: c.shared}
		free := time.Duration(c.free)*time.Millisecond - later
		if violated {
			out.Retry = ratelimit.Never
			if k.cost <= p.Limit {
				free, out.Retry = retry, retry
			}
		}
		out.Reset = v.At.Add(max(0, free))
		v.Results = append(v.Results, out)
	}
	return v
}

// refusedFor is how long after the decision an equal request cannot be admitted. It is
// negative for ever, and 0 if that is not known.
func (a *answer) refusedFor(k *encodedRequest) (d time.Duration) {
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
