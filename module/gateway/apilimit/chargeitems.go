package apilimit

import (
	"net/http"
	"net/url"
	"strings"

	"github.com/caddyserver/caddy/v2/modules/caddyhttp"

	"github.com/gatehouse/gatehouse/module/internal/handler"
	"github.com/gatehouse/gatehouse/module/ratelimit"
)

// chargedVar is the request variable with the innermost limit that admitted a request.
const chargedVar = "gatehouse.charged"

// charged is the admission of a request by one limit.
type charged struct {
	limit  *Limit
	fields ratelimit.Fields // of the response
	cost   int64            // of the request when it came
	path   string           // decoded, as it was then
	before *charged         // by the limit in front
}

// recordAdmission records that this limit admitted a request.
func (l *Limit) recordAdmission(r *http.Request, fields ratelimit.Fields) *charged {
	c := &charged{limit: l, fields: fields, cost: l.cost(r), path: r.URL.Path}
	c.before, _ = caddyhttp.GetVar(r.Context(), chargedVar).(*charged)
	caddyhttp.SetVar(r.Context(), chargedVar, c)
	return c
}

func (c *charged) set(h http.Header) { c.fields.Set(h) }

// ChargeItems counts a batch request at every api_limit it has passed, before anything is done
// for it. Each item has one or more paths, escaped and as the handler sees them, and costs what a
// request of method would cost at the most expensive of them, or what the batch request itself
// cost if that is more: a batch is never cheaper than its items one by one. The error is 429, or
// 413 if a request of this size can never fit. On 429, limits in front of the one that refuses
// have counted the items.
func ChargeItems(w http.ResponseWriter, r *http.Request, method string, items [][]string) error {
	return chargeRequest(w, r, func(c *charged) int64 {
		// What handlers in between removed. A guard among them may have written the rest with
		// other escapes, so decoded paths are compared.
		taken, ok := strings.CutSuffix(c.path, r.URL.Path)
		if !ok {
			taken = ""
		}
		front := (&url.URL{Path: taken}).EscapedPath()
		units := -c.cost
		for _, paths := range items {
			highest := c.cost
			for _, path := range paths {
				highest = max(highest, c.limit.costAt(method, front+path))
			}
			units += highest
		}
		return units
	})
}

// costAt is costOf for an escaped path.
func (l *Limit) costAt(method, path string) int64 {
	u := &url.URL{Path: path}
	if decoded, err := url.PathUnescape(path); err == nil {
		u.Path, u.RawPath = decoded, path
	}
	return l.costOf(method, u)
}

// chargeRequest counts a request for more units at every limit it came through.
func chargeRequest(w http.ResponseWriter, r *http.Request, units func(*charged) int64) error {
	innermost, _ := caddyhttp.GetVar(r.Context(), chargedVar).(*charged)
	for c := innermost; c != nil; c = c.before {
		if !c.couldFit(r, units(c)) {
			return handler.Error(http.StatusRequestEntityTooLarge, &handler.Failure{
				Code: "payload_too_large", Message: "the request costs more than a limit ever allows: divide it",
			})
		}
	}
	for c := innermost; c != nil; c = c.before {
		if more := units(c); more > 0 {
			if err := c.chargeMore(w, r, more); err != nil {
				return err
			}
		}
	}
	return nil
}

// couldFit reports whether a request of so many more units could ever be admitted. It includes
// the cost of the request itself, which counts again when the request is repeated.
func (c *charged) couldFit(r *http.Request, units int64) bool {
	total := c.cost + max(units, 0)
	for _, charge := range c.limit.charges(nil, r, handler.Caller(r)) {
		if p := charge.Policy; !p.DryRun && total > p.Limit {
			return false
		}
	}
	return true
}

// chargeMore counts more units for a request that was admitted before.
func (c *charged) chargeMore(w http.ResponseWriter, r *http.Request, units int64) error {
	l := c.limit
	verdict, err := l.app.Limiter().Decide(r.Context(), ratelimit.Request{
		Charges: l.charges(nil, r, handler.Caller(r)), Cost: units, OnOutage: l.outage,
	})
	if err != nil {
		l.unreported.failed.Inc()
		return handler.Unavailable(w, err)
	}
	l.countDecision(verdict, verdict.Reported())
	c.fields = ratelimit.NewFields(l.style, verdict)
	if verdict.Admitted {
		return nil
	}
	c.fields.Set(w.Header())
	return rateLimited(w.Header())
}
