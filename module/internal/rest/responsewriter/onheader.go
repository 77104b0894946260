package responsewriter

import (
	"io"
	"net/http"
)

// headerHook calls a function just before the header of an answer is sent.
type headerHook struct {
	http.ResponseWriter
	hook func(http.Header)
	done bool
}

// OnHeader returns a writer that calls hook once, with the header of the final answer, just
// before the header is passed on.
func OnHeader(w http.ResponseWriter, hook func(http.Header)) http.ResponseWriter {
	return &headerHook{ResponseWriter: w, hook: hook}
}

// Unwrap is for http.ResponseController.
func (w *headerHook) Unwrap() http.ResponseWriter { return w.ResponseWriter }

func (w *headerHook) callOnce() {
	if !w.done {
		w.done = true
		w.hook(w.Header())
	}
}

// WriteHeader implements http.ResponseWriter. Informational answers pass.
func (w *headerHook) WriteHeader(status int) {
	if status >= http.StatusOK || status == http.StatusSwitchingProtocols {
		w.callOnce()
	}
	w.ResponseWriter.WriteHeader(status)
}

// Write implements http.ResponseWriter.
func (w *headerHook) Write(p []byte) (int, error) {
	w.callOnce()
	return w.ResponseWriter.Write(p)
}

// ReadFrom keeps the way open for sendfile.
func (w *headerHook) ReadFrom(from io.Reader) (int64, error) {
	w.callOnce()
	return io.Copy(w.ResponseWriter, from)
}

// FlushError sends the header if it was not sent.
func (w *headerHook) FlushError() error {
	w.callOnce()
	return http.NewResponseController(w.ResponseWriter).Flush()
}

// Flush is FlushError without the error.
func (w *headerHook) Flush() { _ = w.FlushError() }
