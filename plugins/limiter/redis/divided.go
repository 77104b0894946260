package redis

import (
	"context"
	"slices"
	"sync"

	"github.com/gatehouse/gatehouse/module/ratelimit"
)

// division is a request that is counted in two places of a cluster: under its subject, whose counts may be on any
// server, and under common policies, such as "all", whose counts are on one server.
//
// The subject's part is decided first, and the common part only if the subject's admits the request. So callers above
// their own limits do not burden the server of the common counts. While the common limits are far, that server charges
// units in advance, see [leases], and most requests take one trip, to the server of their subject, or none.
//
// If the common part refuses, the subject's charge is given back before the refusal is returned. Until then it can only
// cause refusals of the same subject, whose requests the common limit would hardly have admitted. The other order would
// be less exact: common units charged for requests above their own limits could cause refusals of anybody. It would
// also have to wait after taking a leased unit, whose slot might end meanwhile.
//
// A refusal reports all policies. So the part that did not refuse is asked without charging it, and both answers are
// remembered as refusals.
type division struct{ own, common part }

// part is the charges of one place.
type part struct {
	ratelimit.Request
	pipeline *pipeline
	budget   keyBudget
	verdict  ratelimit.Verdict

	charges [ratelimit.MaxCharges]ratelimit.Charge
	results [ratelimit.MaxCharges]ratelimit.Result
}

var divisionPool = sync.Pool{New: func() any { return new(division) }}

// isDivided reports whether a request that passed its Check has counts in two places.
func isDivided(r *ratelimit.Request) bool {
	return slices.ContainsFunc(r.Charges, func(c ratelimit.Charge) bool { return isOwn(&c) != isOwn(&r.Charges[0]) })
}

func isOwn(c *ratelimit.Charge) bool { return c.Policy.Place == ratelimit.BySubject }

// decideDivided decides on a request that isDivided. It waits for each of the two places at most maxWait, and once more
// where it gives back. If one does not answer, the request is decided as in an outage, and what was charged stays charged.
func (s *Source) decideDivided(ctx context.Context, r *ratelimit.Request, budget keyBudget) (ratelimit.Verdict, error) {
	d, _ := divisionPool.Get().(*division)
	defer func() {
		*d = division{} // it must not keep the configuration and the request alive
		divisionPool.Put(d)
	}()
	d.divide(r)
	for _, p := range []*part{&d.own, &d.common} {
		p.budget = budget
		p.pipeline = s.pipelineOf(&p.Request, &p.budget)
		if p.pipeline.opened.Load() {
			return s.fallback.Decide(*r)
		}
	}
	if err := s.decideParts(ctx, &d.own, &d.common); err != nil {
		return s.decideInOutage(ctx, *r)
	}
	return d.join(r), nil
}

func (d *division) divide(r *ratelimit.Request) {
	for _, p := range []*part{&d.own, &d.common} {
		p.Cost, p.Charges, p.Results = r.Cost, p.charges[:0], p.results[:0]
	}
	for i := range r.Charges {
		p := &d.common
		if isOwn(&r.Charges[i]) {
			p = &d.own
		}
		p.Charges = append(p.Charges, r.Charges[i])
	}
}

// join returns the verdict on the whole request, at the time of the subject's server: clocks of servers may differ.
func (d *division) join(r *ratelimit.Request) ratelimit.Verdict {
	own, common := &d.own.verdict, &d.common.verdict
	v := ratelimit.Verdict{Admitted: own.Admitted && common.Admitted, At: own.At, Results: r.Results[:0]}
	ahead, n := own.At.Sub(common.At), 0
	for i := range r.Charges {
		if isOwn(&r.Charges[i]) {
			v.Results = append(v.Results, own.Results[n])
			n++
			continue
		}
		result := common.Results[i-n]
		result.Reset = result.Reset.Add(ahead)
		v.Results = append(v.Results, result)
	}
	return v
}

func (p *part) newCall() *call { return newCall(p.pipeline.head, &p.Request, p.budget) }

// decideParts decides on both parts. An error means that Redis did not answer.
func (s *Source) decideParts(ctx context.Context, own, common *part) (err error) {
	c := common.newCall()
	if v, refused := s.knownRefusal(c, &common.Request); refused && (s.leases == nil || !s.leases.holds(c.encodedRequest, s.conn.clock())) {
		c.release()
		common.verdict = v
		return s.look(ctx, own, own.newCall())
	}
	if own.verdict, err = s.decideCall(ctx, own.pipeline, own.newCall(), &own.Request); err != nil {
		return err
	}
	if !own.verdict.Admitted {
		return s.look(ctx, common, c)
	}
	if common.verdict, err = s.decideCall(ctx, common.pipeline, c, &common.Request); err == nil && !common.verdict.Admitted {
		s.undo(ctx, own)
	}
	return err
}

// look sets the verdict of a part without charging it, because the other part has refused the request.
func (s *Source) look(ctx context.Context, p *part, c *call) (err error) {
	c.neverFit()
	p.verdict, err = s.decideCall(ctx, p.pipeline, c, &p.Request)
	return err
}

// undo has Redis give back a charge, and sets the verdict to what is left then. Without an answer the verdict stays that
// of the charge, which may still count: the other part has refused the request in any case.
func (s *Source) undo(ctx context.Context, p *part) {
	c := p.newCall()
	at := p.verdict.At.UnixMilli() // a lease ends with the slot of its charge
	for i := range p.Charges {
		if k := &c.charges[i]; !p.verdict.Results[i].Violated { // a dry run counts only what fits
			c.undone = append(c.undone, unusedUnits{p.pipeline.head, k.key, k.window, at / k.slotLength(), c.cost})
		}
	}
	c.neverFit()
	// Even if the caller goes away.
	if out := p.pipeline.decide(context.WithoutCancel(ctx), c); out.err == nil {
		p.verdict = out.answer.verdict(c.encodedRequest, &p.Request, out.index, 0)
		c.release()
	}
}
