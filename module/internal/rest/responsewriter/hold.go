package responsewriter

import (
	"io"
	"net/http"
	"slices"

	"github.com/gatehouse/gatehouse/module/internal/httpx"
	"github.com/gatehouse/gatehouse/module/rest/envelope"
)

// Hold keeps an answer back until it is complete, or until its owner lets it pass. An answer
// whose body is longer than the limit passes as soon as that is known, and so does one that
// changes the protocol (101).
type Hold struct {
	http.ResponseWriter
	// Decide is called once, when the header is there. It may call Pass. Nil: answers that
	// stream pass, and everything else is held.
	Decide func()
	// Full is called when the body exceeds the limit. If it returns true, the answer stays held
	// and the rest of the body is dropped. Nil: the answer passes.
	Full func() bool
	// Surplus is what is dropped. Nil: all of it is read.
	Surplus *Surplus

	limit  int
	before http.Header // the header as it was before the handler was called
	status int
	body   []byte
	cut    bool
	passed bool
	drops  bool // what follows of the body is not kept
}

// NewHold wraps w. limit is how many bytes of a body are held.
func NewHold(w http.ResponseWriter, limit int) *Hold {
	return &Hold{ResponseWriter: w, limit: limit, before: w.Header().Clone()}
}

// Unwrap is for http.ResponseController.
func (w *Hold) Unwrap() http.ResponseWriter { return w.ResponseWriter }

// Status returns the status so far, 0 before there is one.
func (w *Hold) Status() int { return w.status }

// Body returns what is held of the body.
func (w *Hold) Body() []byte { return w.body }

// Cut reports whether the body is longer than what is held of it.
func (w *Hold) Cut() bool { return w.cut }

// Passed reports whether the answer is on its way to the client.
func (w *Hold) Passed() bool { return w.passed }

// Before returns the header as it was before the handler was called.
func (w *Hold) Before() http.Header { return w.before }

// WriteHeader holds the header. Informational answers pass.
func (w *Hold) WriteHeader(status int) {
	switch {
	case w.status != 0:
		return
	case status < http.StatusOK && status != http.StatusSwitchingProtocols:
		w.ResponseWriter.WriteHeader(status)
		return
	}
	w.status = status
	switch {
	case w.Decide != nil:
		w.Decide()
	case Streams(w.Header()):
		_ = w.Pass() // there is no body yet
	}
	if status == http.StatusSwitchingProtocols {
		_ = w.Pass()
	}
}

// Write holds as much as the limit allows.
func (w *Hold) Write(p []byte) (int, error) {
	w.WriteHeader(http.StatusOK)
	switch {
	case w.drops:
		return w.drop(p)
	case w.passed:
		return w.ResponseWriter.Write(p)
	}
	room := min(w.limit-len(w.body), len(p))
	w.body = append(w.body, p[:room]...)
	if room == len(p) {
		return len(p), nil
	}
	w.cut = true
	if w.Full != nil && w.Full() {
		w.drops = true
		_, err := w.drop(p[room:])
		return len(p), err
	}
	if err := w.Pass(); err != nil {
		return 0, err
	}
	_, err := w.ResponseWriter.Write(p[room:])
	return len(p), err
}

func (w *Hold) drop(p []byte) (int, error) {
	if err := w.Surplus.add(len(p)); err != nil {
		return 0, err
	}
	return len(p), nil
}

// ReadFrom keeps the body from bypassing Write while the answer is held.
func (w *Hold) ReadFrom(from io.Reader) (int64, error) {
	if w.WriteHeader(http.StatusOK); w.passed && !w.drops {
		return io.Copy(w.ResponseWriter, from)
	}
	return io.Copy(struct{ io.Writer }{w}, from)
}

// FlushError does nothing while the answer is held.
func (w *Hold) FlushError() error {
	if w.WriteHeader(http.StatusOK); !w.passed {
		return nil
	}
	return http.NewResponseController(w.ResponseWriter).Flush()
}

// Flush is FlushError without the error.
func (w *Hold) Flush() { _ = w.FlushError() }

// Pass sends what is held, and lets pass what follows. It does nothing the second time.
func (w *Hold) Pass() error {
	if w.passed {
		return nil
	}
	if w.passed = true; w.status == 0 {
		w.status = http.StatusOK
	}
	w.ResponseWriter.WriteHeader(w.status)
	held := w.body
	if w.body = nil; len(held) == 0 {
		return nil
	}
	_, err := w.ResponseWriter.Write(held)
	return err
}

// Empty makes the held answer one of status without a body; what follows of the body is dropped.
func (w *Hold) Empty(status int) {
	w.status, w.drops, w.body = status, true, nil
	w.Surplus.begin()
	for _, name := range []string{"Content-Length", "Content-Type", "Content-Encoding", "Trailer"} {
		w.Header().Del(name)
	}
}

// Added returns the fields that the handler has set.
func (w *Hold) Added() http.Header {
	added := make(http.Header)
	for name, values := range w.Header() {
		if !slices.Equal(values, w.before[name]) {
			added[name] = values
		}
	}
	return added
}

// Streams reports whether an answer is one of events or lines, which arrive over time.
func Streams(h http.Header) bool {
	media, _ := envelope.MediaType(h)
	return httpx.IsStream(media)
}
