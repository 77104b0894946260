package ratelimit

import "time"

// allFit is the decision: the request fits into every policy that is enforced. The states
// are those of the charges, in their order, and have been advanced.
func allFit(charges []Charge, states []State, cost int64) bool {
	for i := range charges {
		if p := charges[i].Policy; !p.DryRun && !states[i].Fits(p.Limit, cost) {
			return false
		}
	}
	return true
}

// policyResult says what a client may know of one policy, after the request was settled.
// violated is whether it had not fitted.
func policyResult(p *Policy, s *State, cost int64, violated bool, now int64, at time.Time) Result {
	r := Result{Policy: p, Limit: p.Limit, Remaining: max(0, p.Limit-s.total), Violated: violated}
	g := p.Grain()
	// One more unit becomes available when those over the limit have gone, and one more.
	free := s.Frees(g, min(s.total, max(1, s.total-p.Limit+1)))
	r.Reset = at.Add(waitUntil(free, now))
	switch {
	case !violated:
	case cost > p.Limit:
		r.Retry = Never
	default:
		r.Retry = waitUntil(s.Frees(g, s.total+cost-p.Limit), now)
		r.Reset = at.Add(r.Retry)
	}
	return r
}

func waitUntil(until, now int64) time.Duration {
	return time.Duration(max(0, until-now)) * time.Millisecond
}
