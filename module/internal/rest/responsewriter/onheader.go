package responsewriter

import (
	"io"
	"net/http"
)

// HeaderEditor edits the header of a response just before it is sent.
type HeaderEditor interface {
	// EditHeader is called for each informational (1xx) response, and once for the final one.
	EditHeader(h http.Header, final bool)
}

// HeaderWriter has a [HeaderEditor] edit the header of a response: by the time it is written, the
// fields of the upstream are in it.
type HeaderWriter struct {
	http.ResponseWriter
	Editor  HeaderEditor
	written bool
}

// finalHook edits final headers only.
type finalHook func(http.Header)

func (f finalHook) EditHeader(h http.Header, final bool) {
	if final {
		f(h)
	}
}

// OnHeader returns a writer that calls hook once, with the header of the final response, just
// before the header is passed on.
func OnHeader(w http.ResponseWriter, hook func(http.Header)) *HeaderWriter {
	return &HeaderWriter{ResponseWriter: w, Editor: finalHook(hook)}
}

// Unwrap is for http.ResponseController.
func (w *HeaderWriter) Unwrap() http.ResponseWriter { return w.ResponseWriter }

// Written reports whether the header of the final response was written.
func (w *HeaderWriter) Written() bool { return w.written }

func (w *HeaderWriter) edit(final bool) {
	if !w.written {
		w.written = final
		w.Editor.EditHeader(w.Header(), final)
	}
}

// WriteHeader implements http.ResponseWriter.
func (w *HeaderWriter) WriteHeader(status int) {
	w.edit(status >= http.StatusOK || status == http.StatusSwitchingProtocols)
	w.ResponseWriter.WriteHeader(status)
}

// Write implements http.ResponseWriter.
func (w *HeaderWriter) Write(p []byte) (int, error) {
	w.edit(true)
	return w.ResponseWriter.Write(p)
}

// ReadFrom keeps the way open for sendfile.
func (w *HeaderWriter) ReadFrom(from io.Reader) (int64, error) {
	w.edit(true)
	return io.Copy(w.ResponseWriter, from)
}

// FlushError sends the header if it was not sent.
func (w *HeaderWriter) FlushError() error {
	w.edit(true)
	return http.NewResponseController(w.ResponseWriter).Flush()
}

// Flush is FlushError without the error.
func (w *HeaderWriter) Flush() { _ = w.FlushError() }

// Push implements http.Pusher.
func (w *HeaderWriter) Push(target string, options *http.PushOptions) error {
	if p, ok := w.ResponseWriter.(http.Pusher); ok {
		return p.Push(target, options)
	}
	return http.ErrNotSupported
}
