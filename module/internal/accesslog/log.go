package accesslog

import (
	"io"
	"net/http"

	"github.com/caddyserver/caddy/v2"
	"github.com/caddyserver/caddy/v2/modules/caddyhttp"
	"go.uber.org/zap"

	"github.com/gatehouse/gatehouse/module/internal/handler"
)

// Log is the access log of Caddy's http app, where the site's `log` directive sends it.
type Log struct{ logger *zap.Logger }

// New returns the access log for a handler. It does not ask for the http app, which is being
// provisioned itself.
func New(ctx caddy.Context) *Log {
	return &Log{ctx.Logger(httpModule{}).Named("log.access")}
}

// httpModule has the module ID of Caddy's http app, by which loggers are selected.
type httpModule struct{}

func (httpModule) CaddyModule() caddy.ModuleInfo {
	return caddy.ModuleInfo{ID: "http", New: func() caddy.Module { return httpModule{} }}
}

// Entry is the line of one request, in place of Caddy's.
type Entry struct {
	// Writer MUST be used for the answer.
	Writer caddyhttp.ResponseRecorder

	loggers []*zap.Logger
	r       *http.Request
	header  http.Header // of the request as it came
	body    *countingBody
}

// Start prevents Caddy from writing the line of a request. The caller MUST call End once the
// request is answered.
func (l *Log) Start(w http.ResponseWriter, r *http.Request) *Entry {
	e := &Entry{Writer: caddyhttp.NewResponseRecorder(w, nil, nil), loggers: l.replaceCaddy(r), r: r}
	if len(e.loggers) == 0 {
		return e
	}
	e.header, e.body = r.Header.Clone(), &countingBody{ReadCloser: r.Body}
	if r.Body != nil && r.Body != http.NoBody {
		r.Body = e.body
	}
	return e
}

// End writes the line. err is the error that the handlers left to Caddy to answer, or nil.
func (e *Entry) End(err error) {
	if len(e.loggers) == 0 {
		return
	}
	o := outcome{status: e.Writer.Status(), size: e.Writer.Size(), read: e.body.n, header: e.Writer.Header()}
	if err != nil {
		o.status = handler.StatusOf(err)
	} else {
		o.writeErr = flushAfterTimeout(e.Writer, e.r)
	}
	writeLine(e.loggers, e.r, e.header, o)
}

// WriteRefused writes the line of a request in place of Caddy's before it is refused.
func (l *Log) WriteRefused(r *http.Request, status int, header http.Header) {
	writeLine(l.replaceCaddy(r), r, r.Header, outcome{status: status, header: header})
}

// WriteAhead writes the line of a request in place of Caddy's before it is passed on by a handler that
// does not see the answer: status and size are 0.
func (l *Log) WriteAhead(r *http.Request) { l.WriteRefused(r, 0, nil) }

// Skip keeps every line of a request out of the access log.
func Skip(r *http.Request) { caddyhttp.SetVar(r.Context(), caddyhttp.LogSkipVar, true) }

// replaceCaddy prevents Caddy from writing the line of a request, and returns the loggers that
// Caddy would have used: none if the site has no `log`, or its own log_skip.
func (l *Log) replaceCaddy(r *http.Request) []*zap.Logger {
	if skip, ok := caddyhttp.GetVar(r.Context(), caddyhttp.LogSkipVar).(bool); ok && skip {
		return nil
	}
	Skip(r)
	server, ok := r.Context().Value(caddyhttp.ServerCtxKey).(*caddyhttp.Server)
	if !ok || server.Logs == nil || l == nil {
		return nil
	}
	return l.loggersFor(r, server.Logs)
}

// countingBody counts what was read of a request's body.
type countingBody struct {
	io.ReadCloser
	n int
}

func (b *countingBody) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	b.n += n
	return n, err
}
