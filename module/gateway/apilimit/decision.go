package apilimit

import (
	"net/http"
	"slices"

	"github.com/gatehouse/gatehouse/module/internal/handler"
	"github.com/gatehouse/gatehouse/module/ratelimit"
)

// decision is what one limit decided on a request. Decisions form a list, from the last to the
// outermost limit.
type decision struct {
	limit  *Limit
	policy *ratelimit.Policy // the reported one, nil without one
	fields ratelimit.Fields  // of the response
	result string
	before handler.LimitDecision // by the limit in front, or nil

	// Of an admission:
	admitted bool
	cost     int64  // of the request when it came
	path     string // decoded, as it was then
}

// recordAdmission records that the limit admitted the request.
func (d *decision) recordAdmission(r *http.Request, cost int64) {
	d.admitted, d.cost, d.path = true, cost, r.URL.Path
	d.record(r)
	handler.ObserveLimit(d.limit.app.Decisions(), r, 0, "")
}

func (d *decision) record(r *http.Request) {
	d.before = handler.LastLimitDecision(r)
	handler.SetLimitDecision(r, d)
}

// lastAdmission is the admission by the innermost limit that admitted the request, or nil.
func lastAdmission(r *http.Request) *decision { return admissionIn(handler.LastLimitDecision(r)) }

// admissionBefore is the admission by the limit in front, or nil.
func (d *decision) admissionBefore() *decision { return admissionIn(d.before) }

func admissionIn(last handler.LimitDecision) *decision {
	for {
		d, _ := last.(*decision)
		if d == nil || d.admitted {
			return d
		}
		last = d.before
	}
}

// set sets the fields of the response. A batch may change them after the admission.
func (d *decision) set(h http.Header) { d.fields.Set(h) }

// LimitValue implements [handler.LimitDecision].
func (d *decision) LimitValue(name string) any {
	if name == "result" {
		return d.result
	}
	values, ok := d.fields.Values()
	if name == "retry_after" {
		if values.RetryAfter == 0 {
			return ""
		}
		return values.RetryAfter
	}
	if !ok || d.policy == nil {
		return ""
	}
	switch name {
	case "policy":
		return d.policy.Name
	case "by":
		return d.limit.keyKind(d.policy)
	case "limit":
		return values.Limit
	case "remaining":
		return values.Remaining
	case "reset":
		return values.Reset
	}
	return ""
}

// keyKind is what a policy counts by, "custom" for a text with placeholders.
func (l *Limit) keyKind(p *ratelimit.Policy) string {
	for i := range l.policies {
		if &l.policies[i] == p && slices.Contains(policyKinds, l.Policies[i].By) {
			return l.Policies[i].By
		}
	}
	return "custom"
}
