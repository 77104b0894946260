package apilimit

import (
	"net/http"
	"net/url"
	"strings"

	"github.com/gatehouse/gatehouse/module/internal/handler"
	"github.com/gatehouse/gatehouse/module/ratelimit"
)

// Item is a part of a batch request that counts like a request.
type Item struct {
	Rest string // what follows the path of the batch request in the item's path, escaped; empty for the request itself
	Also string // another path of the item, escaped and as the handler sees it, or empty
}

// ChargeItems counts a batch request at every api_limit it has passed, before anything is done
// for it. Each item costs what a request of method would cost at the most expensive of its
// paths, or what the batch request itself cost if that is more: a batch is never cheaper
// than its items one by one. The error is 429, or 413 if a request of this size can never fit. On
// 429, limits in front of the one that refuses have counted the items.
func ChargeItems(w http.ResponseWriter, r *http.Request, method string, items []Item) error {
	return chargeRequest(w, r, func(d *decision) int64 {
		own := (&url.URL{Path: strings.TrimSuffix(d.path, "/")}).EscapedPath()
		// What handlers in between removed. A guard among them may have written the rest with
		// other escapes, so decoded paths are compared.
		taken, ok := strings.CutSuffix(d.path, r.URL.Path)
		if !ok {
			taken = ""
		}
		front := (&url.URL{Path: taken}).EscapedPath()
		units := -d.cost
		for _, item := range items {
			highest := max(d.cost, d.limit.costAt(method, own+item.Rest))
			if item.Also != "" {
				highest = max(highest, d.limit.costAt(method, front+item.Also))
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
func chargeRequest(w http.ResponseWriter, r *http.Request, units func(*decision) int64) error {
	innermost := lastAdmission(r)
	for d := innermost; d != nil; d = d.admissionBefore() {
		if !d.couldFit(r, units(d)) {
			return handler.Error(r, http.StatusRequestEntityTooLarge, &handler.Failure{
				Code: "payload_too_large", Message: "the request costs more than a limit ever allows: divide it",
			})
		}
	}
	for d := innermost; d != nil; d = d.admissionBefore() {
		if more := units(d); more > 0 {
			if err := d.chargeMore(w, r, more); err != nil {
				return err
			}
		}
	}
	return nil
}

// couldFit reports whether a request of so many more units could ever be admitted. It includes
// the cost of the request itself, which counts again when the request is repeated.
func (d *decision) couldFit(r *http.Request, units int64) bool {
	total := d.cost + max(units, 0)
	for _, charge := range d.limit.charges(nil, r, handler.Caller(r)) {
		if p := charge.Policy; !p.DryRun && total > p.Limit {
			return false
		}
	}
	return true
}

// chargeMore counts more units for a request that was admitted before.
func (d *decision) chargeMore(w http.ResponseWriter, r *http.Request, units int64) error {
	l := d.limit
	decide := func(cost int64) (ratelimit.Verdict, error) {
		return l.app.Limiter().Decide(r.Context(), ratelimit.Request{
			Charges: l.charges(nil, r, handler.Caller(r)), Cost: cost, OnOutage: l.outage,
		})
	}
	verdict, err := decide(units)
	if err == nil && !verdict.Admitted {
		// A repetition counts the request itself once more, which stays counted here: Retry-After
		// has to say when both fit, or whoever waits as told may never be admitted.
		verdict, err = decide(units + d.cost)
	}
	if err != nil {
		return l.unavailable(w, r, err)
	}
	reported := verdict.Reported()
	l.countDecision(verdict, reported)
	d.fields, d.policy = ratelimit.NewFields(l.style, verdict), reported.Policy
	if verdict.Admitted {
		return nil
	}
	return l.refuse(w, r, &decision{limit: l, policy: reported.Policy, fields: d.fields, result: resultOf(verdict)})
}
