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
	set  func(http.Header)
	done bool
}

func onHeader(w http.ResponseWriter, set func(http.Header)) *headerWriter {
	return &headerWriter{ResponseWriterWrapper: caddyhttp.ResponseWriterWrapper{ResponseWriter: w}, set: set}
}

func (w *headerWriter) apply() {
	if !w.done {
		w.done = true
		w.set(w.Header())
	}
}

func (w *headerWriter) WriteHeader(status int) {
	if status >= 200 || status == http.StatusSwitchingProtocols {
		w.apply()
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
