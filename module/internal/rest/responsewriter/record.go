package responsewriter

import (
	"net/http"
)

// Reply is a recorded answer.
type Reply struct {
	Status int
	Header http.Header
	Body   []byte
	// Cut says that the body was longer than the recorder's limit.
	Cut bool
}

// Recorder keeps an answer in memory, and of its body no more than a limit.
type Recorder struct {
	// Surplus is what exceeds the limit; an answer that streams, whose end is not awaited, is one from its beginning.
	// Nil: all is read.
	Surplus *Surplus

	header http.Header
	status int
	body   []byte
	cut    bool
	limit  int
}

// NewRecorder returns a recorder that keeps up to limit bytes of a body.
func NewRecorder(limit int) *Recorder {
	return &Recorder{header: make(http.Header), limit: limit}
}

// Header implements http.ResponseWriter.
func (w *Recorder) Header() http.Header { return w.header }

// WriteHeader keeps the first final status.
func (w *Recorder) WriteHeader(status int) {
	if w.status == 0 && status >= http.StatusOK {
		w.status = status
		if w.Surplus != nil && Streams(w.header) {
			w.cut = true
			w.Surplus.begin()
		}
	}
}

// Write keeps what fits. Without a Surplus it accepts the rest too: an API whose answer to a change is not read to its
// end may take that for a failure of its own.
func (w *Recorder) Write(p []byte) (int, error) {
	w.WriteHeader(http.StatusOK)
	room := min(w.limit-len(w.body), len(p))
	w.body = append(w.body, p[:room]...)
	if room < len(p) {
		w.cut = true
		if err := w.Surplus.add(len(p) - room); err != nil {
			return room, err
		}
	}
	return len(p), nil
}

// Status returns the status so far, 0 before there is one.
func (w *Recorder) Status() int { return w.status }

// Reply returns what was recorded.
func (w *Recorder) Reply() Reply {
	w.WriteHeader(http.StatusOK)
	return Reply{Status: w.status, Header: w.header, Body: w.body, Cut: w.cut}
}
