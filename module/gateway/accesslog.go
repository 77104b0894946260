package gateway

import (
	"context"
	"io"
	"net"
	"net/http"
	"strings"
	"time"

	"github.com/caddyserver/caddy/v2"
	"github.com/caddyserver/caddy/v2/modules/caddyhttp"
	"github.com/caddyserver/certmagic"
	"go.uber.org/zap"
	"go.uber.org/zap/zapcore"

	"github.com/gatehouse/gatehouse/module/internal/handler"
)

// accessLog writes the lines of requests that Caddy must not write: it logs the address
// as it came, with codes and states in it, and header fields before a handler can change
// them. The lines go where Caddy's would, to the site's `log` directive.
type accessLog struct{ logger *zap.Logger }

// newAccessLog gives the access logger of the http app, without asking for the app, which
// would make a circle.
func newAccessLog(ctx caddy.Context) *accessLog {
	return &accessLog{ctx.Logger(httpModule{}).Named("log.access")}
}

// httpModule has the ID of Caddy's http app: loggers are told apart by it.
type httpModule struct{}

func (httpModule) CaddyModule() caddy.ModuleInfo {
	return caddy.ModuleInfo{ID: "http", New: func() caddy.Module { return httpModule{} }}
}

// begin keeps Caddy from writing the line of a request. The writer it gives must be used
// for the answer, and end called when the answer was written.
func (l *accessLog) begin(w http.ResponseWriter, r *http.Request) (caddyhttp.ResponseRecorder, func()) {
	rec := caddyhttp.NewResponseRecorder(w, nil, nil)
	loggers := l.take(r)
	if len(loggers) == 0 {
		return rec, func() {}
	}
	body := &countedBody{ReadCloser: r.Body}
	if r.Body != nil && r.Body != http.NoBody {
		r.Body = body
	}
	header := r.Header.Clone()
	return rec, func() {
		write(loggers, r, header, outcome{status: rec.Status(), size: rec.Size(), read: body.n, header: rec.Header()})
	}
}

// take keeps Caddy from writing the line of a request, and gives the loggers that it would
// have written to; none when the site has no `log`, or its own log_skip.
func (l *accessLog) take(r *http.Request) []*zap.Logger {
	if skip, ok := caddyhttp.GetVar(r.Context(), caddyhttp.LogSkipVar).(bool); ok && skip {
		return nil
	}
	caddyhttp.SetVar(r.Context(), caddyhttp.LogSkipVar, true)
	server, ok := r.Context().Value(caddyhttp.ServerCtxKey).(*caddyhttp.Server)
	if !ok || server.Logs == nil || l == nil {
		return nil
	}
	return l.loggers(r, server.Logs)
}

// loggers follows the rules of Caddy's Server for the names of a request's loggers.
func (l *accessLog) loggers(r *http.Request, c *caddyhttp.ServerLogConfig) []*zap.Logger {
	host, _, err := net.SplitHostPort(r.Host)
	if err != nil {
		host = r.Host
	}
	if !logged(host, c) {
		return nil
	}
	names := []string{c.DefaultLoggerName}
	if chosen, ok := caddyhttp.GetVar(r.Context(), caddyhttp.AccessLoggerNameVarKey).([]any); ok {
		names = nil
		for _, name := range chosen {
			if name, ok := name.(string); ok {
				names = append(names, name)
			}
		}
	} else if mapped, ok := mappedLoggers(host, c); ok {
		names = mapped
	}
	var out []*zap.Logger
	for _, name := range names {
		out = append(out, l.logger.Named(name))
	}
	return out
}

func logged(host string, c *caddyhttp.ServerLogConfig) bool {
	for name := range c.LoggerNames {
		if certmagic.MatchWildcard(host, name) {
			return true
		}
	}
	for _, skipped := range c.SkipHosts {
		if certmagic.MatchWildcard(host, skipped) {
			return false
		}
	}
	return !c.SkipUnmappedHosts
}

// mappedLoggers looks for the host, then for it with more and more labels replaced by *.
func mappedLoggers(host string, c *caddyhttp.ServerLogConfig) ([]string, bool) {
	host = strings.ToLower(host)
	if names, ok := c.LoggerNames[host]; ok {
		return names, true
	}
	labels := strings.Split(host, ".")
	for i := range labels {
		if labels[i] == "" {
			continue
		}
		labels[i] = "*"
		if names, ok := c.LoggerNames[strings.Join(labels, ".")]; ok {
			return names, true
		}
	}
	return nil, false
}

// outcome is what a line says about the answer.
type outcome struct {
	status, size, read int
	header             http.Header
}

// write writes one line to each logger, with the fields that Caddy's lines have. The
// site's log_credentials is not asked: what it would show here is worth more than a
// session of one site.
func write(loggers []*zap.Logger, r *http.Request, sent http.Header, o outcome) {
	level := zapcore.InfoLevel
	if o.status >= http.StatusInternalServerError {
		level = zapcore.ErrorLevel
	}
	if name, ok := caddyhttp.GetVar(r.Context(), caddyhttp.LogLevelVar).(string); ok {
		if l, err := zapcore.ParseLevel(name); err == nil && l >= zapcore.DebugLevel && l <= zapcore.ErrorLevel {
			level = l
		}
	}
	var fields []zap.Field
	for _, logger := range loggers {
		line := logger.Check(level, "handled request")
		if line == nil {
			continue
		}
		if fields == nil {
			fields = lineFields(r, sent, o)
		}
		line.Write(fields...)
	}
}

func lineFields(r *http.Request, sent http.Header, o outcome) []zap.Field {
	ctx := r.Context()
	began, _ := caddyhttp.GetVar(ctx, "start_time").(time.Time)
	var user string
	if repl, ok := ctx.Value(caddy.ReplacerCtxKey).(*caddy.Replacer); ok {
		user, _ = repl.GetString("http.auth.user.id")
	}
	return []zap.Field{
		zap.Object("request", caddyhttp.LoggableHTTPRequest{Request: redactRequest(ctx, r, sent)}),
		zap.Int("bytes_read", o.read),
		zap.String("user_id", user),
		zap.Duration("duration", time.Since(began)),
		zap.Int("size", o.size),
		zap.Int("status", o.status),
		zap.Object("resp_headers", caddyhttp.LoggableHTTPHeader{Header: redactHeader(o.header, shownResponseHeaders)}),
		zap.String("uuid", handler.RequestID(r)), // which the audit trail has as request_id
	}
}

// redactRequest gives what a line may say of a request, as it was before any handler
// rewrote it.
func redactRequest(ctx context.Context, r *http.Request, sent http.Header) *http.Request {
	shown := &http.Request{
		Method: r.Method, Proto: r.Proto, Host: r.Host, RequestURI: r.RequestURI, RemoteAddr: r.RemoteAddr,
		TLS: r.TLS, TransferEncoding: r.TransferEncoding, Header: redactHeader(sent, shownRequestHeaders),
	}
	if original, ok := ctx.Value(caddyhttp.OriginalRequestCtxKey).(http.Request); ok {
		shown.Method, shown.RequestURI, shown.RemoteAddr = original.Method, original.RequestURI, original.RemoteAddr
	}
	shown.RequestURI = redactURI(shown.RequestURI)
	return shown.WithContext(ctx)
}

// countedBody counts what was read of a request's body.
type countedBody struct {
	io.ReadCloser
	n int
}

func (b *countedBody) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	b.n += n
	return n, err
}
