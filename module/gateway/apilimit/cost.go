package apilimit

import (
	"net/http"
	"net/url"
	"strings"

	"github.com/gatehouse/gatehouse/module/guard"
	"github.com/gatehouse/gatehouse/module/internal/httpx"
)

// Cost is the cost of some requests.
type Cost struct {
	// Units, from 1. Required.
	Units int64 `json:"units"`
	// Methods in capitals; a HEAD costs no less than a GET. Default: every method.
	Methods []string `json:"methods,omitempty"`
	// Paths, as in a guard's rules. Required.
	Paths []string `json:"paths"`
}

// otherMethod stands for all methods that no cost names.
const otherMethod = "*"

// cost is what a request costs. If an API might run it as another method, which a guard in front prevents, that is what
// the most expensive method costs.
func (l *Limit) cost(r *http.Request) int64 {
	cost := l.costOf(httpx.UpstreamMethod(r), r.URL)
	if len(l.Costs) == 0 || !guard.MayOverrideMethod(r) {
		return cost
	}
	cost = max(cost, l.costOf(otherMethod, r.URL))
	for _, c := range l.Costs {
		for _, method := range c.Methods {
			cost = max(cost, l.costOf(method, r.URL))
		}
	}
	return cost
}

// costOf is what a request costs. A HEAD costs no less than a GET, because an API has the same work with it.
func (l *Limit) costOf(method string, at *url.URL) int64 {
	cost := l.declared(method, at)
	if strings.EqualFold(method, http.MethodHead) {
		cost = max(cost, l.declared(http.MethodGet, at))
	}
	return cost
}

// declared is the cost that the first matching rule declares, or 1.
func (l *Limit) declared(method string, at *url.URL) int64 {
	if i := l.costs.Find(method, at, l.dearer); i >= 0 {
		return l.Costs[i].Units
	}
	return 1
}

func (l *Limit) dearer(i, other int) bool { return l.Costs[i].Units > l.Costs[other].Units }
