package accesslog

import (
	"net/http"

	"github.com/caddyserver/caddy/v2"
	"github.com/caddyserver/caddy/v2/modules/caddyhttp"
	"go.uber.org/zap"

	"github.com/gatehouse/gatehouse/module/internal/handler"
)

// outcome is what a line says about the answer.
type outcome struct {
	status, size, read int
	header             http.Header
	writeErr           error
}

// writeLine writes one line to each logger, with the fields of Caddy's lines. The site's
// log_credentials has no effect: the issuer's credentials are worth more than those of one site.
func writeLine(loggers []*zap.Logger, r *http.Request, sent http.Header, o outcome) {
	level, message := levelOf(r, o.status), messageOf(r)
	var fields []zap.Field
	for _, logger := range loggers {
		line := logger.Check(level, message)
		if line == nil {
			continue
		}
		if fields == nil {
			fields = fieldsOf(r, sent, o)
		}
		line.Write(fields...)
	}
}

func fieldsOf(r *http.Request, sent http.Header, o outcome) []zap.Field {
	var user string
	if repl, ok := r.Context().Value(caddy.ReplacerCtxKey).(*caddy.Replacer); ok {
		user, _ = repl.GetString("http.auth.user.id")
	}
	fields := []zap.Field{
		zap.Object("request", caddyhttp.LoggableHTTPRequest{Request: redactRequest(r, sent)}),
		zap.Int("bytes_read", o.read),
		zap.String("user_id", user),
		zap.Duration("duration", elapsed(r)),
		zap.Int("size", o.size),
		zap.Int("status", o.status),
		zap.Object("resp_headers", caddyhttp.LoggableHTTPHeader{Header: redactHeader(o.header, shownResponseHeaders)}),
	}
	if o.writeErr != nil {
		fields = append(fields, zap.NamedError("write_error", o.writeErr))
	}
	return append(fields, zap.String("uuid", handler.RequestID(r))) // the audit trail's request_id
}

// redactRequest returns what a line may show of the original request.
func redactRequest(r *http.Request, sent http.Header) *http.Request {
	shown := &http.Request{
		Method: r.Method, Proto: r.Proto, Host: r.Host, RequestURI: r.RequestURI, RemoteAddr: r.RemoteAddr,
		TLS: r.TLS, TransferEncoding: r.TransferEncoding, Header: redactHeader(sent, shownRequestHeaders),
	}
	if original, ok := r.Context().Value(caddyhttp.OriginalRequestCtxKey).(http.Request); ok {
		shown.Method, shown.RequestURI, shown.RemoteAddr = original.Method, original.RequestURI, original.RemoteAddr
	}
	shown.RequestURI = redactURI(shown.RequestURI)
	return shown.WithContext(r.Context())
}
