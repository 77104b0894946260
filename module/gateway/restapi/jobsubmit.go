package restapi

import (
	"cmp"
	"maps"
	"mime"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/gatehouse/gatehouse/module/internal/rest/jobapi"
	"github.com/gatehouse/gatehouse/module/internal/rest/request"
	"github.com/gatehouse/gatehouse/module/internal/rest/routes"
	"github.com/gatehouse/gatehouse/module/internal/rest/upstream"
	"github.com/gatehouse/gatehouse/module/rest/envelope"
	"github.com/gatehouse/gatehouse/module/rest/job"
)

// submit answers a POST that makes a job.
func (p *jobs) submit(w http.ResponseWriter, c *call, d decision) error {
	q := p.queues[strings.Trim(d.job.Path, "/")]
	if m, ok := c.declaredPOST(&q.Config); ok {
		p.h.counts[m.Operation.Kind].Inc()
		return p.submitOperation(w, c, q, d.wish, m)
	}
	label := c.Request.Header.Get("Content-Type")
	if media, _, _ := mime.ParseMediaType(label); q.Fetch != nil && (media != "application/json" || c.Request.Header.Get("Content-Encoding") != "") {
		return envelope.Refuse(http.StatusUnsupportedMediaType, "the body must be application/json")
	}
	if refused := refuseParameters(c.Request.URL.RawQuery); refused != nil {
		return refused
	}
	body, refused := request.ReadBody(c.Request, p.h.MaxBody)
	if refused != nil {
		return refused
	}
	if q.Fetch == nil {
		if refused := upstream.CheckJobBody(jobBodyParams(p.h.Fixed, c.account), c.charset, c.Request.Header, body); refused != nil {
			return refused
		}
		if refused := upstream.CheckJobForm(queryOf(q), c.Request.Header, body); refused != nil {
			return refused
		}
	}
	return p.api.Submit(w, &c.Call, q, d.wish, c.version(), job.Request{Body: body, ContentType: label})
}

// declaredPOST returns the declared operation in whose place a job runs, if clients choose between
// the two.
func (e *edition) declaredPOST(c *job.Config) (routes.Match, bool) {
	m, _, refused := e.table.Match(http.MethodPost, "/"+c.Path)
	if c.When != "preferred" || refused != nil || m.Operation == nil {
		return routes.Match{}, false
	}
	return m, true
}

// submitOperation makes a job of a declared operation: an error in the request is answered at once, as
// without a job, and the upstream gets the body that it would get.
func (p *jobs) submitOperation(w http.ResponseWriter, c *call, q *job.Queue, wish jobapi.Prefer, m routes.Match) error {
	if refused := refuseParameters(c.Request.URL.RawQuery); refused != nil {
		return refused
	}
	if err := p.h.readRequest(c, m); err != nil {
		return err
	}
	c.Asked.JobQuery = queryOf(q)
	return p.h.handlerOf(c, func(w http.ResponseWriter, c *call) error {
		up, refused := c.Match.Request(c.Asked)
		if refused != nil {
			return refused
		}
		body := up.Body
		if !up.Replaced {
			if body, refused = request.ReadBody(c.Request, p.h.MaxBody); refused != nil {
				return refused
			}
			if refused = upstream.CheckJobForm(queryOf(q), c.Request.Header, body); refused != nil {
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

// queryOf returns the query of a job's address.
func queryOf(q *job.Queue) string {
	_, query, _ := strings.Cut(q.Upstream, "?")
	return query
}

// refuseParameters refuses any query: a job has a path of its own, without one.
func refuseParameters(query string) *envelope.Refusal {
	asked, err := url.ParseQuery(query)
	switch {
	case err != nil:
		return envelope.Refuse(http.StatusBadRequest, "the query cannot be read")
	case len(asked) > 0:
		return envelope.Invalid(slices.Min(slices.Collect(maps.Keys(asked))), "is not a parameter of this address")
	}
	return nil
}
