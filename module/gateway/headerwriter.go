package gateway

import (
	"io"
	"net/http"

	"github.com/caddyserver/caddy/v2/modules/caddyhttp"
)

// headerWriter changes the header of a response at the last moment, when it is
// written: what the upstream sent is then there to be replaced.
type headerWriter struct {
	caddyhttp.ResponseWriterWrapper
	set      func(http.Header) // may be nil
	upstream *UpstreamAnswers  // nil: the answer may say everything
	done     bool
}

func onHeader(w http.ResponseWriter, set func(http.Header)) *headerWriter {
	return &headerWriter{ResponseWriterWrapper: caddyhttp.ResponseWriterWrapper{ResponseWriter: w}, set: set}
}

func (w *headerWriter) apply() {
	if w.done {
		return
	}
	w.done = true
	w.strip()
	if w.set != nil {
		w.set(w.Header())
	}
}

func (w *headerWriter) strip() {
	if w.upstream != nil {
		w.upstream.strip(w.Header())
	}
}

// finish is for the end of an upstream's answer. What is in the header by now goes out as
// trailers, or with the error that is answered instead.
func (w *headerWriter) finish() { w.strip() }

func (w *headerWriter) WriteHeader(status int) {
	if status >= 200 || status == http.StatusSwitchingProtocols {
		w.apply()
	} else {
		w.strip()
	}
	w.ResponseWriterWrapper.WriteHeader(status)
}

func (w *headerWriter) Write(p []byte) (int, error) {
	w.apply()
	return w.ResponseWriterWrapper.Write(p)
}

func (w *headerWriter) ReadFrom(r io.Reader) (int64, error) {
	w.apply()
	return w.ResponseWriterWrapper.ReadFrom(r)
}

// FlushError is what http.ResponseController calls; a flush sends the header.
func (w *headerWriter) FlushError() error {
	w.apply()
	return http.NewResponseController(w.ResponseWriter).Flush()
}

// Flush is FlushError for callers of http.Flusher.
func (w *headerWriter) Flush() { _ = w.FlushError() }
