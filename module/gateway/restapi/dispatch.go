package restapi

import (
	"net/http"
	"strings"

	"github.com/gatehouse/gatehouse/module/internal/rest/jobapi"
	"github.com/gatehouse/gatehouse/module/internal/rest/openapi"
	"github.com/gatehouse/gatehouse/module/internal/rest/routes"
	"github.com/gatehouse/gatehouse/module/internal/rest/version"
	"github.com/gatehouse/gatehouse/module/rest/envelope"
	"github.com/gatehouse/gatehouse/module/rest/job"
)

// target is what answers a request.
type target int

const (
	toRefusal     target = iota // an error
	toDescription               // the description of the API
	toJobStatus                 // the job with an ID
	toNewJob                    // a new job
	toJobMethods                // a path that only a job declares, and another method than POST
	toUpstream                  // the upstream, which gets the request untranslated
	toMethods                   // OPTIONS of declared operations
	toOperation                 // a declared operation
)

// decision is what dispatch decides about a request.
type decision struct {
	target  target
	refused *envelope.Refusal // of toRefusal
	match   routes.Match      // of toOperation and toMethods
	jobID   string            // of toJobStatus
	job     *job.Config       // whose path the POST has, even if the client's Prefer does not ask for a job
	wish    jobapi.Prefer
}

// dispatch decides what answers a request, whose version is chosen and has the operations in table.
// ServeHTTP acts on the decision and Explain reports it.
func dispatch(h *REST, r *http.Request, choice version.Choice, table *routes.Table) decision {
	if h.OpenAPI != nil && (choice.Path == openapi.DocumentPath || choice.Path == openapi.PagePath) {
		return decision{target: toDescription}
	}
	d, found := dispatchToJob(h.Jobs, r, choice.Path, table)
	if !found {
		d = dispatchToOperation(d, r.Method, choice.Path, table, h.Undeclared == "pass")
	}
	if choice.Unacceptable && (d.target == toJobStatus || d.target == toNewJob || d.target == toOperation) {
		d.target, d.refused = toRefusal, unacceptable
	}
	return d
}

// dispatchToJob reports false for requests that jobs do not answer.
func dispatchToJob(jobs []job.Config, r *http.Request, path string, table *routes.Table) (d decision, found bool) {
	if id, ok := strings.CutPrefix(path, jobapi.Path); ok && len(jobs) > 0 && !strings.Contains(id, "/") {
		return decision{target: toJobStatus, jobID: id}, true
	}
	for i := range jobs {
		c := &jobs[i]
		if at, ok := strings.CutPrefix(path, "/"); !ok || at != strings.Trim(c.Path, "/") {
			continue
		}
		if r.Method != http.MethodPost {
			_, declared, _ := table.Match(http.MethodGet, path)
			return decision{target: toJobMethods}, c.When != "preferred" && !declared
		}
		d = decision{target: toNewJob, job: c, wish: jobapi.ParsePrefer(r.Header)}
		return d, c.When != "preferred" || d.wish.Async || d.wish.Waits
	}
	return d, false
}

// dispatchToOperation completes the decision about a request that jobs do not answer. pass says that
// undeclared requests go to the upstream.
func dispatchToOperation(d decision, method, path string, table *routes.Table, pass bool) decision {
	var declared bool
	d.match, declared, d.refused = table.Match(method, path)
	switch {
	case table.Empty() || !declared && pass:
		d.target = toUpstream
	case d.refused != nil:
		d.target = toRefusal
	case d.match.Operation == nil:
		d.target = toMethods
	default:
		d.target = toOperation
	}
	return d
}
