package handler

import (
	"io"
	"net/http"

	"github.com/caddyserver/caddy/v2/modules/caddyhttp"
)

// UpstreamWriter is the response writer of an answer that an upstream may give. It edits the
// header when it is written: by then the upstream's fields are in it.
type UpstreamWriter struct {
	caddyhttp.ResponseWriterWrapper
	set      func(http.Header) // may be nil
	upstream *UpstreamAnswers  // nil for the gateway's own answers, which may contain every field
	written  bool
}

// Written reports whether a header was written; informational (1xx) ones do not count.
func (w *UpstreamWriter) Written() bool { return w.written }

// Finish MUST be called when the upstream has answered. What is in the header by then goes out
// as trailers, or with the error that is answered instead.
func (w *UpstreamWriter) Finish() { w.strip() }

func (w *UpstreamWriter) strip() {
	if w.upstream != nil {
		w.upstream.strip(w.Header())
	}
}

func (w *UpstreamWriter) editHeader() {
	if w.written {
		return
	}
	w.written = true
	w.strip()
	if w.set != nil {
		w.set(w.Header())
	}
}

// WriteHeader implements [http.ResponseWriter].
func (w *UpstreamWriter) WriteHeader(status int) {
	if status >= 200 || status == http.StatusSwitchingProtocols {
		w.editHeader()
	} else {
		w.strip()
	}
	w.ResponseWriterWrapper.WriteHeader(status)
}

// Write implements [http.ResponseWriter].
func (w *UpstreamWriter) Write(p []byte) (int, error) {
	w.editHeader()
	return w.ResponseWriterWrapper.Write(p)
}

// ReadFrom implements [io.ReaderFrom].
func (w *UpstreamWriter) ReadFrom(r io.Reader) (int64, error) {
	w.editHeader()
	return w.ResponseWriterWrapper.ReadFrom(r)
}

// FlushError is what [http.ResponseController] calls. A flush writes the header.
func (w *UpstreamWriter) FlushError() error {
	w.editHeader()
	return http.NewResponseController(w.ResponseWriter).Flush()
}

// Flush is [UpstreamWriter.FlushError] for callers of [http.Flusher].
func (w *UpstreamWriter) Flush() { _ = w.FlushError() }
