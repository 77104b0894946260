package ratelimit

import (
	"context"
	"math"
	"time"
)

// MaxCharges is how many policies one request can fall under.
const MaxCharges = 8

// Charge is a policy that applies to a request, and the subject that is counted. Where there is
// no subject the policy does not apply: the caller leaves it out.
type Charge struct {
	Policy  *Policy // passed [Policy.Check]
	Subject string
}

// Request is what a [Source] decides on.
type Request struct {
	// Charges are at most [MaxCharges], all of one limiter; those whose Place is [BySubject] are for one
	// subject, and the others have one Place. No two are for the same policy name and window. They MUST NOT
	// change while the request is being decided.
	Charges []Charge
	// Cost is in units; 0 means 1.
	Cost int64
	// Results is storage for the verdict's results, for callers who want to reuse it.
	Results []Result
	// OnOutage is what the source does when it cannot reach the counts.
	OnOutage Outage
}

// Never is the Retry of a request that costs more than the limit.
const Never time.Duration = -1

// Result is what one policy decided about a request.
type Result struct {
	Policy    *Policy
	Limit     int64
	Remaining int64 // units left after this request, at least 0
	// Reset is when at least one more unit becomes available; when violated, when this
	// request would fit; the time of the decision when nothing is counted.
	Reset time.Time
	// Violated: the request did not fit (under a dry run it was admitted nevertheless).
	Violated bool
	// Retry is how long after the decision a violated request would fit, or Never.
	Retry time.Duration
	// Shared: the subject was counted together with others, as there was no room.
	Shared bool
}

// Verdict is a source's decision on a request.
type Verdict struct {
	Admitted bool
	At       time.Time // when it was made, on the wall clock, for clients
	// Results has one result for each charge, in their order; none if nothing is known in an
	// outage.
	Results []Result
	// Outage: the counts were out of reach and Request.OnOutage decided.
	Outage bool
}

// Source decides on requests.
//
// Decide MUST decide on all policies of a request in one atomic step: in any window
// no policy admits more than its limit, whatever else runs in parallel, and a refused
// request consumes nothing, from no policy. It MUST refuse only what would not have
// fitted into the last window plus one slot (a [Slots]th of it).
//
// A source may keep the counts of policies whose Place is [BySubject] apart from those of others. Then a request that
// the others refuse may be counted for its subject until Decide returns, and for one window if the source
// is out of reach by then. Meanwhile, and for a second more where a process remembers a refusal, other requests of
// that subject may be refused because of it.
//
// A source may charge requests in advance while less than half of each limit is in use, if limits and windows are
// large. What it charged in advance and nobody used counts as used until it is given back, within two seconds, or for
// one window if the process that holds it dies or cannot reach the source. A process MUST NOT hold more than a 64th of
// a limit in advance.
//
// Decide MUST return soon after ctx is done. An error is a technical one and never says that a limit was reached.
type Source interface {
	Decide(ctx context.Context, r Request) (Verdict, error)
}

// Reported returns the result that a client is told: of the violated policies the one that
// frees last, else the one with the least remaining. Clients are not told of dry runs: if there
// are no other policies, the result has no Policy.
func (v Verdict) Reported() Result {
	var best Result
	for _, r := range v.Results {
		if !r.Policy.DryRun && (best.Policy == nil || isStricter(r, best)) {
			best = r
		}
	}
	return best
}

// isStricter reports whether a limits a client more than b.
func isStricter(a, b Result) bool {
	switch {
	case a.Violated != b.Violated:
		return a.Violated
	case !a.Violated:
		return a.Remaining < b.Remaining
	case a.Retry == Never || b.Retry == Never:
		return b.Retry != Never
	default:
		return a.Retry > b.Retry
	}
}

// Check returns [ErrRequest] for a malformed request.
func (r *Request) Check() error {
	if len(r.Charges) > MaxCharges || r.Cost < 0 {
		return ErrRequest
	}
	for i := range r.Charges {
		a := &r.Charges[i]
		if a.Policy == nil || a.Policy.Window < minWindow || a.Policy.Limit > math.MaxUint32 {
			return ErrRequest // a State could not hold it
		}
		for j := range i {
			b := &r.Charges[j]
			if !a.fitsBeside(b) {
				return ErrRequest
			}
			if a.Policy.Limiter != b.Policy.Limiter || a.Policy.Window == b.Policy.Window && a.Policy.Name == b.Policy.Name {
				return ErrRequest
			}
		}
	}
	return nil
}

// fitsBeside reports whether the places of two charges can be those of one request.
func (c *Charge) fitsBeside(other *Charge) bool {
	if c.Policy.Place == other.Policy.Place {
		return c.Policy.Place != BySubject || c.Subject == other.Subject
	}
	return c.Policy.Place == BySubject || other.Policy.Place == BySubject
}

// allFit reports whether the request fits into every policy that is enforced. The states
// are those of the charges, in their order, and have been advanced.
func allFit(charges []Charge, states []State, cost int64) bool {
	for i := range charges {
		if p := charges[i].Policy; !p.DryRun && !states[i].Fits(p.Limit, cost) {
			return false
		}
	}
	return true
}

// policyResult returns the result for one policy after the decision. violated says that the
// request did not fit.
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
