package apilimit

import (
	"net/http"

	"github.com/gatehouse/gatehouse/module/gateway"
	"github.com/gatehouse/gatehouse/module/internal/handler"
	"github.com/gatehouse/gatehouse/module/internal/httpx"
	"github.com/gatehouse/gatehouse/module/ratelimit"
)

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

// rateLimited is the refusal of a limit that has already set the header fields.
func rateLimited(r *http.Request, h http.Header) error {
	message := "too many requests: Retry-After says when this one fits"
	if h.Get("Retry-After") == "" {
		message = "this request costs more than the limit permits at any time"
	}
	return handler.Error(r, http.StatusTooManyRequests, &handler.Failure{Code: "rate_limited", Message: message})
}

// refusedBehind reports whether the error is the refusal of another limit, which has set the
// header fields.
func refusedBehind(err error, h http.Header) bool {
	return handler.StatusOf(err) == http.StatusTooManyRequests && ratelimit.Told(h)
}

// unavailable answers a request that could not be judged. One whose client has gone did not need to
// be.
func (l *Limit) unavailable(w http.ResponseWriter, r *http.Request, err error) error {
	if !httpx.IsGone(r.Context(), err) {
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
