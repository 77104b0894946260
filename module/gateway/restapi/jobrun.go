package restapi

import (
	"cmp"
	"context"
	"io"
	"maps"
	"net/http"
	"strings"

	"github.com/gatehouse/gatehouse/module/internal/rest/answer"
	"github.com/gatehouse/gatehouse/module/internal/rest/exchange"
	"github.com/gatehouse/gatehouse/module/internal/rest/mapping"
	"github.com/gatehouse/gatehouse/module/internal/rest/operation"
	"github.com/gatehouse/gatehouse/module/internal/rest/routes"
	"github.com/gatehouse/gatehouse/module/internal/rest/splice"
	"github.com/gatehouse/gatehouse/module/internal/token"
	"github.com/gatehouse/gatehouse/module/rest/envelope"
	"github.com/gatehouse/gatehouse/module/rest/job"
)

// version returns the name of the version that was asked for, "" for none.
func (c *call) version() string {
	if c.choice.Version == nil {
		return ""
	}
	return c.choice.Version.Name
}

// edition returns the edition of a version, nil if the version is no longer declared.
func (h *REST) edition(name string) *edition {
	if name == "" {
		return &h.plain
	}
	for i := range h.Versions {
		if h.Versions[i].Name == name {
			return &h.editions[i]
		}
	}
	return nil
}

// run sends the request of a job to the upstream.
func (p *jobs) run(ctx context.Context, t job.Task) *job.Failure {
	h, in := p.h, t.Job.Input
	e := h.edition(t.Job.Version)
	if e == nil || e.route == nil {
		return job.Undeclared.Failure()
	}
	m, declared := e.declaredPOST(t.Config)
	dialect := &h.dialect
	if declared {
		dialect = e.dialects[m.Operation]
	}
	answer, err := jobAnswer(t.Config, m)
	if err != nil {
		return job.UpstreamFailed.Failure()
	}
	t.Answer.Part(answer.Plan)
	up := mapping.Upstream{Method: t.Config.Method, Set: make(http.Header)}
	up.Path, up.RawQuery, _ = strings.Cut(t.Config.Upstream, "?")
	maps.Copy(up.Set, in.Header)
	maps.Copy(up.Set, t.Upload.Header)
	up.Set.Set("Accept", "application/json")
	up.Set.Set("Accept-Encoding", "identity")
	if up.Set.Get(operation.KeyHeader) == "" { // a job of an earlier release
		up.Set.Set(operation.KeyHeader, t.Job.ID)
	}
	r := upstreamRequest(ctx, t.Answer, nil, up)
	if t.Upload.Length != 0 {
		r.Body, r.ContentLength = io.NopCloser(t.Upload.Body), t.Upload.Length
	}
	p.app.Identify(r, accessOf(t.Job))
	to, dialect := e.api.Route(m.Operation, jobParams(h.Fixed), withSentQuery(e.route), dialect)
	if err := h.exchanger.SendAlone(t.Answer, r, exchange.Exchange{To: to, Answer: answer, Dialect: dialect}); err != nil {
		return jobFailure(err)
	}
	return nil
}

// permitted reports whether the caller who made a job may still do what it was made for.
func (p *jobs) permitted(ctx context.Context, j *job.Job) (bool, error) {
	access := accessOf(j)
	access.Epochs, access.KeyID = j.Input.Permit.Epochs, j.Input.Permit.KeyID
	return p.app.Verifier().StillPermits(ctx, access, j.Created)
}

// accessOf returns the access of the caller who made a job, nil without a token.
func accessOf(j *job.Job) *token.Access {
	if j.Owner == (job.Owner{}) {
		return nil
	}
	return &token.Access{Subject: j.Owner.Subject, Client: j.Owner.Client, Scopes: j.Input.Scopes}
}

// jobAnswer returns how the upstream's answer is translated: to the declared part of its JSON, or, in
// the place of a declared operation, to that operation's answer. The recorder reads JSON in lines.
func jobAnswer(c *job.Config, m routes.Match) (*answer.Answer, error) {
	if m.Operation != nil {
		return m.Operation.Answers.NewDeferred(c.Result)
	}
	at, err := splice.ParsePointer(c.Result)
	if err != nil {
		return nil, err
	}
	plan, err := splice.Compile(splice.Config{Root: at})
	return answer.NewPlain(plan), err
}

// jobFailure returns a failure as the client of a request would be told it.
func jobFailure(err error) *job.Failure {
	status, e := statusOf(err), told(err)
	general := envelope.Lookup(status)
	f := &job.Failure{Code: cmp.Or(e.Code, general.Code), Message: cmp.Or(e.Message, general.Message)}
	if e.Field != "" {
		f.Field = &e.Field
	}
	return f
}
