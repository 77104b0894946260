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

// charged is an admission: what it was for, and what the client is told of it.
type charged struct {
	limit  *Limit
	fields ratelimit.Fields
	cost   int64    // what the request cost when it came
	path   string   // and its path then, decoded
	before *charged // by the limit in front
}

func (l *Limit) admitted(r *http.Request, fields ratelimit.Fields) *charged {
	c := &charged{limit: l, fields: fields, cost: l.cost(r), path: r.URL.Path}
	c.before, _ = caddyhttp.GetVar(r.Context(), chargedVar).(*charged)
	caddyhttp.SetVar(r.Context(), chargedVar, c)
	return c
}

func (c *charged) set(h http.Header) { c.fields.Set(h) }

// ChargeItems counts a request that stands for several, each of method and with one or more
// paths, which are escaped and as the handler sees them: each costs what it would have cost alone
// at the dearest of its paths, or what the request did if that is more. A batch is never cheaper
// than its items one by one. It counts at every api_limit the request came through, before
// anything is done for it. Its error is 429, or 413 where a request of this size can never fit;
// then no limit has counted anything, unless one in front of the one that refuses did.
func ChargeItems(w http.ResponseWriter, r *http.Request, method string, items [][]string) error {
	return chargeRequest(w, r, func(c *charged) int64 {
		// What handlers in between took away. A guard among them may have written the rest in
		// another way, so decoded paths are compared.
		taken, ok := strings.CutSuffix(c.path, r.URL.Path)
		if !ok {
			taken = ""
		}
		front := (&url.URL{Path: taken}).EscapedPath()
		units := -c.cost
		for _, paths := range items {
			dearest := c.cost
			for _, path := range paths {
				dearest = max(dearest, c.limit.costAt(method, front+path))
			}
			units += dearest
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
			if err := c.more(w, r, more); err != nil {
				return err
			}
		}
	}
	return nil
}

// couldFit counts what the request has cost already: sent again, it would cost it again.
func (c *charged) couldFit(r *http.Request, units int64) bool {
	total := c.cost + max(units, 0)
	for _, charge := range c.limit.charges(nil, r, handler.Caller(r)) {
		if p := charge.Policy; !p.DryRun && total > p.Limit {
			return false
		}
	}
	return true
}

func (c *charged) more(w http.ResponseWriter, r *http.Request, units int64) error {
	l := c.limit
	verdict, err := l.app.Limiter().Decide(r.Context(), ratelimit.Request{
		Charges: l.charges(nil, r, handler.Caller(r)), Cost: units, OnOutage: l.outage,
	})
	if err != nil {
		l.unreported.failed.Inc()
		return handler.Unavailable(w, err)
	}
	l.count(verdict, verdict.Reported())
	c.fields = ratelimit.NewFields(l.style, verdict)
	if verdict.Admitted {
		return nil
	}
	c.fields.Set(w.Header())
	return rateLimited(w.Header())
}
