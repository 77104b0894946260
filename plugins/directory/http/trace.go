package http

import (
	"context"
	"crypto/tls"
	"errors"
	"net/http/httptrace"
	"sync/atomic"

	"golang.org/x/net/http2"
)

// trace is how far a request came.
type trace struct {
	shared   atomic.Bool // its connection may end for the sake of another request, before or beside it
	written  atomic.Bool // all of it, as far as this side can tell
	answered atomic.Bool // if only by a header that cannot be read; over HTTP/2 only by one that can
	streamed atomic.Bool // it went over HTTP/2, where another request may end the connection while the answer arrives
}

// attach returns a context for the request. net/http may send it on several connections, of which the last one counts.
func (t *trace) attach(ctx context.Context) context.Context {
	return httptrace.WithClientTrace(ctx, &httptrace.ClientTrace{
		GotConn: func(c httptrace.GotConnInfo) {
			encrypted, ok := c.Conn.(*tls.Conn)
			t.streamed.Store(ok && encrypted.ConnectionState().NegotiatedProtocol == http2.NextProtoTLS)
			t.shared.Store(c.Reused || t.streamed.Load())
			t.written.Store(false)
		},
		WroteRequest:         func(w httptrace.WroteRequestInfo) { t.written.Store(w.Err == nil) },
		GotFirstResponseByte: func() { t.answered.Store(true) },
	})
}

// hasAnswer reports whether a request that ended with this error was answered, so that another answer would be no better.
func (t *trace) hasAnswer(err error) bool {
	return isMalformed(err) || errors.Is(err, errTooLong) || t.answered.Load() && !t.streamed.Load()
}

// wasSent reports whether the endpoint may have read it.
func (t *trace) wasSent(err error) bool {
	return isMalformed(err) || t.answered.Load() || t.written.Load()
}
