package restapi

import (
	"encoding/json"
	"fmt"
	"net/http"
	"time"

	"github.com/gatehouse/gatehouse/module/internal/rest/routes"
	"github.com/gatehouse/gatehouse/module/internal/rest/version"
)

// Explanation is what becomes of a request.
type Explanation struct {
	Text string
	// Ends says that nothing behind the handler sees the request.
	Ends bool
	// Declared says that a resource or a job answers it.
	Declared bool
	// Own says that the handler answers by itself, and no upstream while the client waits.
	Own bool
}

// Handlers keeps handlers that were read, by their configuration, for callers that ask about many
// requests. It is not safe for concurrent use.
type Handlers map[string]*REST

// read returns the handler of a configuration, which nothing is loaded from.
func (all Handlers) read(config []byte) (h *REST, err error) {
	if h = all[string(config)]; h != nil {
		return h, nil
	}
	h = new(REST)
	if err := json.Unmarshal(config, h); err != nil {
		return nil, err
	}
	names := version.Config{Vendor: h.Vendor, Now: time.Now}
	for _, v := range h.Versions {
		names.Versions = append(names.Versions, v.Version)
	}
	h.editions = make([]edition, len(h.Versions))
	if h.versions, err = version.New(names); err == nil && all != nil {
		all[string(config)] = h
	}
	return h, err
}

// Explain says what answers a request. It reads no body. handlers may be nil.
func Explain(handlers Handlers, config []byte, r *http.Request) (Explanation, error) {
	h, err := handlers.read(config)
	if err != nil {
		return Explanation{}, err
	}
	choice, refused := h.versions.Negotiate(r.URL.EscapedPath(), r.Header["Accept"])
	if refused != nil {
		return Explanation{Text: "api_rest refuses it: " + refused.Error(), Ends: true}, nil
	}
	e, resources, ends := h.editionOf(choice), h.Resources, len(h.Upstream) > 0
	if choice.Index >= 0 {
		v := &h.Versions[choice.Index]
		resources, ends = v.resources(h.Resources), ends || len(v.Upstream) > 0
	}
	if e.table == nil {
		if e.table, err = routes.New(resources); err != nil {
			return Explanation{}, err
		}
	}
	d := dispatch(h, r, choice, e.table)
	x := d.explain(ends)
	if d.job != nil && d.target != toNewJob {
		x.Text, x.Declared = x.Text+"; with `Prefer: respond-async` it makes a job of it: job "+d.job.Path, true
	}
	return x, nil
}

// explain puts a decision into words. ends says that the upstream is the handler's own.
func (d decision) explain(ends bool) Explanation {
	switch d.target {
	case toDescription:
		return Explanation{Text: "api_rest describes the API", Ends: true, Own: true}
	case toJobStatus:
		return Explanation{"api_rest answers for a job", true, true, true}
	case toNewJob:
		return Explanation{"api_rest makes a job of it: job " + d.job.Path, true, true, true}
	case toJobMethods:
		return Explanation{"api_rest allows only POST there, which makes a job", true, true, true}
	case toUpstream:
		return Explanation{Text: "api_rest declares nothing there and lets it pass", Ends: ends}
	case toMethods:
		return Explanation{Text: "api_rest answers OPTIONS: " + d.match.Allow, Ends: true}
	case toOperation:
		o := d.match.Operation
		return Explanation{fmt.Sprintf("api_rest takes it for %s of resource %s: %s %s", o.Kind, o.Resource.Path, o.Method, o.Path), ends, true, false}
	}
	return Explanation{Text: "api_rest refuses it: " + d.refused.Error(), Ends: true}
}
