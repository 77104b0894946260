package apilimit

import (
	"net/http"
	"net/url"

	"github.com/gatehouse/gatehouse/module/internal/httpx"
)

// Cost is the cost of some requests.
type Cost struct {
	// Units, from 1. Required.
	Units int64 `json:"units"`
	// Methods in capitals. Default: every method.
	Methods []string `json:"methods,omitempty"`
	// Paths, as in a guard's rules. Required.
	Paths []string `json:"paths"`
}

func (l *Limit) cost(r *http.Request) int64 { return l.costOf(httpx.UpstreamMethod(r), r.URL) }

func (l *Limit) costOf(method string, at *url.URL) int64 {
	if i := l.costs.Find(method, at, l.dearer); i >= 0 {
		return l.Costs[i].Units
	}
	return 1
}

func (l *Limit) dearer(i, other int) bool { return l.Costs[i].Units > l.Costs[other].Units }
