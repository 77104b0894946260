package apilimit

import (
	"net/http"
	"net/url"

	"github.com/gatehouse/gatehouse/module/guard"
	"github.com/gatehouse/gatehouse/module/internal/httpx"
)

// Cost is the cost of some requests.
type Cost struct {
	// Units, from 1.
	Units int64 `json:"units"`
	// Methods in capitals. Default: every method.
	Methods []string `json:"methods,omitempty"`
	// Paths, as in a guard's rules.
	Paths []string `json:"paths"`
}

type cost struct {
	units int64
	match *guard.Route
}

func (l *Limit) cost(r *http.Request) int64 { return l.costOf(httpx.UpstreamMethod(r), r.URL) }

func (l *Limit) costOf(method string, at *url.URL) int64 {
	for _, c := range l.costs {
		if c.match.Matches(method, at) {
			return c.units
		}
	}
	return 1
}
