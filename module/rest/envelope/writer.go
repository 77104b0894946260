package envelope

import (
	"io"
	"net/http"
	"slices"
)

// maxBody is how much of an upstream's error body is read. More than that is not a message, and
// it would be held in memory for each failing request.
const maxBody = 64 << 10

// Writer passes successes through unchanged, and holds back the body of an error to replace it.
// It decides when the header arrives.
//
// After the handler behind it has returned, the caller must call exactly one of Finish and Fail;
// after a panic neither, so that the connection is aborted.
//
// With FailWhen it also holds back the beginning of a JSON success until no condition can hold
// any more. If that takes more than maxBody, the beginning is passed on; if the response then
// turns out to be a failure, the connection is aborted.
type Writer struct {
	http.ResponseWriter
	config    *Config
	request   *http.Request
	held      *held  // an error that is being read
	watch     *watch // a success that may be a failure
	committed bool   // the header is on its way to the client
	untouched bool
	late      bool // it is a failure although the header was passed on
}

type held struct {
	status int
	watch  *watch // what found it to be an error; nil if its status says so
	body   []byte
	cut    bool
}

// NewWriter wraps w for the response to r. The config is not copied; if it has rules, it should
// have been prepared.
func NewWriter(w http.ResponseWriter, r *http.Request, c *Config) *Writer {
	return &Writer{ResponseWriter: w, config: c.ready(), request: r}
}

// Unwrap implements the interface of http.ResponseController.
func (w *Writer) Unwrap() http.ResponseWriter { return w.ResponseWriter }

// Untouched marks the response as one whose errors have a protocol's own format. It has no
// effect once the header was written.
func (w *Writer) Untouched() { w.untouched = true }

// Committed reports whether the header was passed on, so that no other response is possible.
func (w *Writer) Committed() bool { return w.committed }

// WriteHeader decides what happens to the response. Informational responses pass and decide
// nothing, except 101.
func (w *Writer) WriteHeader(status int) {
	switch {
	case w.held != nil, w.watch != nil:
		return
	case status < http.StatusOK && status != http.StatusSwitchingProtocols:
	case status < http.StatusBadRequest || w.untouched || w.committed:
		if !w.untouched && !w.committed {
			if w.watch = w.config.watch(status, w.request.Method, w.Header()); w.watch != nil {
				if w.watch.header >= 0 || w.watch.notJSON {
					w.watch.unread = true
					w.failed()
				}
				return
			}
		}
		w.committed = true
	default:
		w.held = &held{status: status}
		return
	}
	w.ResponseWriter.WriteHeader(status)
}

// Write holds p back or passes it on.
func (w *Writer) Write(p []byte) (int, error) {
	w.begin()
	switch {
	case w.late:
		return 0, ErrLate
	case w.held != nil:
		w.hold(p)
		return len(p), nil
	case w.watch != nil:
		return w.watched(p)
	}
	w.committed = true
	return w.ResponseWriter.Write(p)
}

// begin handles a handler that writes without calling WriteHeader: its status is 200.
func (w *Writer) begin() {
	if !w.committed && w.held == nil && w.watch == nil && w.config.dialect.conditional() {
		w.WriteHeader(http.StatusOK)
	}
}

// hold responds as soon as the limit is reached: the rest of the body, which may never end,
// changes nothing.
func (w *Writer) hold(p []byte) {
	if w.committed {
		return
	}
	room := maxBody - len(w.held.body)
	if w.held.watch != nil && !w.held.watch.unread { // a condition in front of the one that was found to hold may decide
		w.held.watch.feed(p[:min(room, len(p))])
	}
	w.held.cut = len(p) > room
	w.held.body = append(w.held.body, p[:min(room, len(p))]...)
	if w.held.cut {
		w.settle()
	}
}

// ReadFrom makes sendfile possible.
func (w *Writer) ReadFrom(from io.Reader) (int64, error) {
	if w.begin(); w.held != nil || w.watch != nil || w.late {
		return io.Copy(writerOnly{w}, from)
	}
	w.committed = true
	if rf, ok := w.ResponseWriter.(io.ReaderFrom); ok {
		return rf.ReadFrom(from)
	}
	return io.Copy(writerOnly{w.ResponseWriter}, from)
}

type writerOnly struct{ io.Writer }

// Flush is FlushError without the error.
func (w *Writer) Flush() { _ = w.FlushError() }

// FlushError does nothing while something is held back.
func (w *Writer) FlushError() error {
	if w.begin(); (w.held != nil || w.watch != nil) && !w.committed {
		return nil
	}
	w.committed = true
	return http.NewResponseController(w.ResponseWriter).Flush()
}

// Finish writes the response in place of a held error, if there is one. It panics with
// http.ErrAbortHandler after a failure that was found too late.
func (w *Writer) Finish() {
	if w.watch != nil {
		w.ended()
	}
	if w.late {
		panic(http.ErrAbortHandler)
	}
	if w.held != nil && !w.committed {
		w.settle()
	}
}

// Fail responds with the gateway's own error, in place of what may be held back. It reports
// false, and does nothing, if the header was already passed on.
func (w *Writer) Fail(status int, e Error) bool {
	if w.committed {
		return false
	}
	w.stopWatching()
	w.held = &held{status: status}
	w.committed = true
	w.config.Write(w.ResponseWriter, w.request, status, e)
	return true
}

func (w *Writer) settle() {
	w.committed = true
	h := w.ResponseWriter.Header()
	status, raw := w.held.status, w.held.body
	w.held.body = nil
	var rule *condition
	if w.held.watch != nil {
		rule = w.held.watch.why(h, raw, w.held.cut)
		status = rule.Status
		w.held.watch = nil
	}
	if w.emptied(raw) {
		return
	}
	problem := w.config.ProblemJSON && prefersProblem(w.request.Header["Accept"])
	t := w.config.translate(h, status, raw, w.held.cut)
	if w.config.Observe != nil {
		w.config.Observe(status, t.kind)
	}
	if rule != nil {
		t.asIs = false
		h.Del("Location") // of what was not created
		switch {
		case rule.Code != "":
			t.err.Code = rule.Code
		case rule.NotJSON && status == http.StatusBadGateway: // the upstream was reached
			t.err.Code, t.err.Message = "upstream_error", "the service behind the gateway gave an answer that could not be read"
		}
	}
	if w.config.Field != nil && t.err.Field != "" {
		if name := w.config.Field(t.err.Field); name != t.err.Field {
			t.err.Field, t.asIs = name, false
		}
	}
	if w.config.Withhold != nil {
		t.asIs = false
		if slices.ContainsFunc([]string{t.err.Code, t.err.Message, t.err.Field}, w.config.Withhold) {
			t.err = Error{}
		}
	}
	head := w.request.Method == http.MethodHead
	switch {
	case w.config.UpstreamAuth && (status == http.StatusUnauthorized || status == http.StatusForbidden), w.config.SignedIn && status == http.StatusUnauthorized:
		h.Del("WWW-Authenticate")
		status, t.err = http.StatusBadGateway, Error{Code: UpstreamAuthFailed, Message: "the service behind the gateway refused the gateway's credentials"}
	case t.asIs && !problem:
		w.ResponseWriter.WriteHeader(status)
		_, _ = w.ResponseWriter.Write(raw)
		return
	}
	w.config.write(w.ResponseWriter, w.request, status, t.shortened(), !head)
}
