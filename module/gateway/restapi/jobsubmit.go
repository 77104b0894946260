package restapi

import (
	"cmp"
	"maps"
	"mime"
	"net/http"
	"net/url"
	"slices"

	"github.com/gatehouse/gatehouse/module/internal/rest/request"
	"github.com/gatehouse/gatehouse/module/internal/rest/routes"
	"github.com/gatehouse/gatehouse/module/internal/rest/upstream"
	"github.com/gatehouse/gatehouse/module/rest/envelope"
	"github.com/gatehouse/gatehouse/module/rest/job"
)

// begin is a POST that makes a job.
func (p *jobs) begin(w http.ResponseWriter, c *call, q *job.Queue, wish job.Prefer) error {
	if m, ok := c.instead(q); ok {
		p.h.counts[m.Operation.Kind].Inc()
		return p.defers(w, c, q, wish, m)
	}
	label := c.Request.Header.Get("Content-Type")
	if media, _, _ := mime.ParseMediaType(label); q.Fetch != nil && (media != "application/json" || c.Request.Header.Get("Content-Encoding") != "") {
		return envelope.Refuse(http.StatusUnsupportedMediaType, "the body must be application/json")
	}
	if refused := parameterless(c.Request.URL.RawQuery); refused != nil {
		return refused
	}
	body, refused := request.ReadBody(c.Request, p.h.MaxBody)
	if refused != nil {
		return refused
	}
	if q.Fetch == nil {
		if refused := upstream.CheckJobBody(jobBodyParams(p.h.Fixed, c.account), c.Request.Header, body); refused != nil {
			return refused
		}
	}
	return p.api.Submit(w, &c.Call, q, wish, c.version(), job.Request{Body: body, ContentType: label})
}

// instead is the declared operation that a request would be if its client did not prefer
// a job.
func (e *edition) instead(q *job.Queue) (routes.Match, bool) {
	if q.When != "preferred" {
		return routes.Match{}, false
	}
	return e.posted(q.Path)
}

// posted is what a POST of a path is.
func (e *edition) posted(path string) (routes.Match, bool) {
	m, _, refused := e.table.Match(http.MethodPost, "/"+path)
	return m, refused == nil && m.Operation != nil
}

// defers makes a job of a declared operation: what is wrong with the request is said at
// once, as it would be without a job, and the upstream gets the body that it would get.
func (p *jobs) defers(w http.ResponseWriter, c *call, q *job.Queue, wish job.Prefer, m routes.Match) error {
	if refused := parameterless(c.Request.URL.RawQuery); refused != nil {
		return refused
	}
	if err := p.h.read(c, m); err != nil {
		return err
	}
	return p.h.wrap(c, func(w http.ResponseWriter, c *call) error {
		up, refused := c.Match.Request(c.Asked)
		if refused != nil {
			return refused
		}
		body := up.Body
		if !up.Replaced {
			if body, refused = request.ReadBody(c.Request, p.h.MaxBody); refused != nil {
				return refused
			}
		}
		label := c.Request.Header.Get("Content-Type")
		if changed, ok := up.Set["Content-Type"]; ok {
			label = cmp.Or(append(changed, "")...)
		}
		return p.api.Submit(w, &c.Call, q, wish, c.version(), job.Request{Body: body, ContentType: label})
	})(w, &c.Call)
}

// parameterless refuses a query: a job has an address of its own, without it.
func parameterless(query string) *envelope.Refusal {
	asked, err := url.ParseQuery(query)
	switch {
	case err != nil:
		return envelope.Refuse(http.StatusBadRequest, "the query cannot be read")
	case len(asked) > 0:
		return envelope.Invalid(slices.Min(slices.Collect(maps.Keys(asked))), "is not a parameter of this address")
	}
	return nil
}
