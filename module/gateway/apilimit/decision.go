package apilimit

import (
	"net/http"
	"slices"

	"github.com/gatehouse/gatehouse/module/gateway"
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

// refuse answers a request that d refuses, and emits the event.
func (l *Limit) refuse(w http.ResponseWriter, r *http.Request, d *decision) error {
	d.record(r)
	d.set(w.Header())
	handler.ObserveLimit(l.app.Decisions(), r, http.StatusTooManyRequests, "rate_limited")
	if events := l.app.LimitEvents(); events.Wanted() {
		events.Put(l.ctx, gateway.LimitExceededEvent, d.eventData(r))
	}
	return rateLimited(r, w.Header())
}

// unavailable answers a request that could not be judged. One whose client has gone did not need to
// be.
func (l *Limit) unavailable(w http.ResponseWriter, r *http.Request, err error) error {
	if !handler.IsGone(r, err) {
		l.unreported.failed.Inc()
		(&decision{limit: l, result: resultUnavailable}).record(r)
		handler.ObserveLimit(l.app.Decisions(), r, http.StatusServiceUnavailable, "limiter_unavailable")
	}
	return handler.UnavailableTo(w, r, err)
}

// eventData says who was refused, and by which policy.
func (d *decision) eventData(r *http.Request) map[string]any {
	data := map[string]any{"ip": handler.ClientIP(r), "request_id": handler.RequestID(r)}
	for _, name := range handler.LimitPlaceholders {
		if value := d.LimitValue(name); value != "" {
			data[name] = value
		}
	}
	if access := handler.Caller(r); access != nil {
		data["client"], data["subject"] = access.Client, access.Subject
	}
	if route := handler.Route(r); route != "" {
		data["route"] = route
	}
	return data
}

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
