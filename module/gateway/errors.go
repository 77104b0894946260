package gateway

import (
	"errors"
	"log/slog"
	"net/http"

	"github.com/caddyserver/caddy/v2"
	"github.com/caddyserver/caddy/v2/modules/caddyhttp"

	"github.com/gatehouse/gatehouse/module/internal/handler"
	"github.com/gatehouse/gatehouse/module/internal/httpx"
	"github.com/gatehouse/gatehouse/module/internal/metrics"
	"github.com/gatehouse/gatehouse/module/internal/watch"
	"github.com/gatehouse/gatehouse/module/rest/charset"
	"github.com/gatehouse/gatehouse/module/rest/envelope"
)

func init() { caddy.RegisterModule(new(Errors)) }

// Errors is the handler of the directive `api_errors`: it answers every failure behind it, the gateway's own and
// the upstream's, as `{"error":{"code","message","field"}}` with a fitting status. Responses of
// `oauth_server` keep the form of their protocol.
type Errors struct {
	// Answers `application/problem+json` (RFC 9457) to requests whose Accept prefers it.
	ProblemJSON bool `json:"problem_json,omitempty"`
	// Passes on the texts of an upstream's 5xx errors. Default: they are replaced.
	Expose bool `json:"expose,omitempty"`
	// Turns an upstream's own 401 and 403 into 502: the client's token is not at fault.
	UpstreamAuth bool `json:"upstream_auth,omitempty"`
	// Where the upstream's errors have the message and code for the client. The first that
	// finds one is used. Default: the usual places of JSON, HTML and plain text.
	From []envelope.From `json:"from,omitempty"`
	// Conditions under which a JSON response with a status of success is a failure. The first
	// that is true decides. At most 64 KiB of such a response are held back until it is known
	// that none is true; if one becomes true after that, the connection is aborted. Default: none.
	FailWhen []envelope.FailWhen `json:"fail_when,omitempty"`
	// The charset of the upstream's texts that are not in UTF-8 and have no other label: a name of
	// the WHATWG or IANA, such as `iso-8859-1`. Default: if an error is in neither UTF-8 nor the
	// charset of its label, only its status is used.
	Charset string `json:"charset,omitempty"`

	config    envelope.Config
	decisions *watch.Feed // nil without the app
	log       *slog.Logger
}

// CaddyModule returns the Caddy module information.
func (*Errors) CaddyModule() caddy.ModuleInfo {
	return caddy.ModuleInfo{ID: "http.handlers.gatehouse_errors", New: func() caddy.Module { return new(Errors) }}
}

// Provision checks the rules and builds the translation.
func (e *Errors) Provision(ctx caddy.Context) error {
	e.log = ctx.Slogger()
	switch app, err := configuredApp(ctx); {
	case err == nil:
		e.decisions = app.decisions
	case !errors.Is(err, caddy.ErrNotConfigured):
		return err
	}
	e.config = envelope.Config{
		ProblemJSON: e.ProblemJSON, Expose: e.Expose, UpstreamAuth: e.UpstreamAuth, From: e.From, FailWhen: e.FailWhen,
		Observe: func(status int, kind envelope.Kind) { metrics.Set{}.UpstreamError(status, string(kind)) },
	}
	if e.Charset != "" {
		named, err := charset.Find(e.Charset)
		if err != nil {
			return err
		}
		e.config.Charset = named
	}
	if err := e.config.Prepare(); err != nil {
		return err
	}
	return metrics.Register(ctx.GetMetricsRegistry())
}

// ServeHTTP passes successes through and rewrites failures. It logs the errors that Caddy would
// have logged.
func (e *Errors) ServeHTTP(w http.ResponseWriter, r *http.Request, next caddyhttp.Handler) error {
	r.Body = httpx.Unclosed(r)
	handler.AddPlaceholders(r)
	if o := handler.Observe(e.decisions, w, r); o != nil {
		w = o.Writer
		defer o.End(nil)
	}
	handler.CloseWhenExiting(w, r)
	shaped := envelope.NewWriter(w, r, &e.config)
	handler.SetEnvelope(r, shaped)
	e.config.Ask(r.Header)
	err := next.ServeHTTP(shaped, r)
	if err == nil {
		shaped.Finish()
		return nil
	}
	if shaped.Committed() {
		return err // too late for another response: Caddy aborts the connection
	}
	err = handler.WithReason(r, err)
	status := handler.StatusOf(err)
	metrics.Set{}.Failure(status)
	f, ok := errors.AsType[*handler.Failure](err)
	if !ok {
		f = new(handler.Failure)
	}
	if status >= 500 && !f.Silent {
		e.log.Error("request failed", "status", status, "error", err, "method", r.Method, "path", r.URL.Path)
	}
	handler.LeaveBody(w, r)
	shaped.Fail(status, envelope.Error{Code: f.Code, Message: f.Message, Field: f.Field})
	return nil
}

// Interface guards
var (
	_ caddy.Provisioner           = (*Errors)(nil)
	_ caddyhttp.MiddlewareHandler = (*Errors)(nil)
)
