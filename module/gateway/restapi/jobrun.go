package restapi

import (
	"context"
	"io"
	"net/http"
	"strings"

	"github.com/gatehouse/gatehouse/module/internal/rest/answer"
	"github.com/gatehouse/gatehouse/module/internal/rest/exchange"
	"github.com/gatehouse/gatehouse/module/internal/rest/mapping"
	"github.com/gatehouse/gatehouse/module/internal/rest/routes"
	"github.com/gatehouse/gatehouse/module/internal/rest/splice"
	"github.com/gatehouse/gatehouse/module/internal/token"
	"github.com/gatehouse/gatehouse/module/rest/envelope"
	"github.com/gatehouse/gatehouse/module/rest/job"
)

// version is the name of the version that was asked for, "" for none.
func (c *call) version() string {
	if c.choice.Version == nil {
		return ""
	}
	return c.choice.Version.Name
}

// edition is the one of a version's name; nil when there is none any more.
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

// do asks the upstream for what a job is about.
func (p *jobs) do(ctx context.Context, t job.Task) *job.Failure {
	h, in := p.h, t.Job.Input
	e := h.edition(t.Job.Version)
	if e == nil || e.route == nil {
		return &job.Failure{Code: string(job.Undeclared), Message: job.Undeclared.Message()}
	}
	answer, dialect, err := p.answer(e, t.Config)
	if err != nil {
		return &job.Failure{Code: string(job.UpstreamFailed), Message: job.UpstreamFailed.Message()}
	}
	t.Answer.Part(answer.Plan)
	up := mapping.Upstream{Method: t.Config.Method, Set: make(http.Header)}
	up.Path, up.RawQuery, _ = strings.Cut(t.Config.Upstream, "?")
	for _, set := range []http.Header{in.Header, t.Upload.Header} {
		for name, values := range set {
			up.Set[name] = values
		}
	}
	up.Set.Set("Accept", "application/json")
	up.Set.Set("Accept-Encoding", "identity")
	up.Set.Set("Idempotency-Key", t.Job.ID) // the same when it is begun again
	r := upstreamRequest(ctx, t.Answer, nil, up)
	if t.Upload.Length != 0 {
		r.Body, r.ContentLength = io.NopCloser(t.Upload.Body), t.Upload.Length
	}
	p.app.Identify(r, access(t.Job))
	to, dialect := e.api.Route(p.operation(e, t.Config), jobParams(h.Fixed), e.route, dialect)
	if err := h.exchanger.SendAlone(t.Answer, r, exchange.Exchange{To: to, Answer: answer, Dialect: dialect}); err != nil {
		return jobFailure(err)
	}
	return nil
}

// operation is the declared one that a job is instead of; nil for none.
func (p *jobs) operation(e *edition, c *job.Config) *routes.Operation {
	if m, ok := e.posted(c.Path); ok && c.When == "preferred" {
		return m.Operation
	}
	return nil
}

func access(j *job.Job) *token.Access {
	if j.Owner == (job.Owner{}) {
		return nil
	}
	return &token.Access{Subject: j.Owner.Subject, Client: j.Owner.Client, Scopes: j.Input.Scopes}
}

// answer says what becomes of the upstream's answer: the declared part of its JSON,
// without a notice in front and in UTF-8. In lines it is read elsewhere. Instead of a
// declared operation it is what that would have given.
func (p *jobs) answer(e *edition, c *job.Config) (*answer.Answer, *envelope.Config, error) {
	if m, ok := e.posted(c.Path); ok && c.When == "preferred" {
		answer, err := m.Operation.Answers.NewDeferred(c.Result)
		return answer, e.dialects[m.Operation], err
	}
	at, err := splice.ParsePointer(c.Result)
	if err != nil {
		return nil, nil, err
	}
	plan, err := splice.Compile(splice.Config{Root: at})
	return answer.NewPlain(plan), &p.h.dialect, err
}

// jobFailure is a failure as the client of a request would be told it.
func jobFailure(err error) *job.Failure {
	status, e := statusOf(err), told(err)
	general := envelope.Lookup(status)
	f := &job.Failure{Code: general.Code, Message: general.Message}
	if e.Code != "" {
		f.Code = e.Code
	}
	if e.Message != "" {
		f.Message = e.Message
	}
	if e.Field != "" {
		f.Field = &e.Field
	}
	return f
}
