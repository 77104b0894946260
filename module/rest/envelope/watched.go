package envelope

import (
	"errors"
	"maps"
	"net/http"
	"strings"
)

// ErrLate is returned to a handler that continues to write a response which turned out to be a
// failure after its beginning was passed on.
var ErrLate = errors.New("the response is a failure according to fail_when, but its beginning was already passed on")

// why returns the condition that decides, when no more is read.
func (w *watch) why(h http.Header, raw []byte, cut bool) *condition {
	rule := w.rule
	if w.unread && !w.notJSON { // a condition in front of the one about the header may hold
		w.raw, w.passing = raw, false
		_ = w.read(h, cut)
	}
	if w.editor != nil || w.words != nil {
		if first := w.first(!cut && w.editor != nil && w.editor.Close() == nil); first != nil {
			rule = first
		}
	}
	w.release()
	return rule
}

// watched holds p back, or passes it on once the response is known not to be a failure.
func (w *Writer) watched(p []byte) (int, error) {
	a := w.watch
	if a.passing {
		return w.passWatched(p)
	}
	n := min(maxBody-len(a.raw), len(p))
	v := a.feed(p[:n])
	if v == open && n < len(p) {
		v = a.end(w.Header(), true)
	} else if v == open {
		a.keep()
		return n, nil
	}
	if v == fails {
		w.failed()
		w.hold(p[n:])
		return len(p), nil
	}
	if err := w.passOn(v == open && a.stage == scanning); err != nil {
		return 0, err
	}
	more, err := w.Write(p[n:])
	return n + more, err
}

// passOn starts the response, and continues to watch it if it can still be judged.
func (w *Writer) passOn(watch bool) error {
	a := w.watch
	raw := a.raw
	a.raw, a.passing, w.committed = nil, true, true
	if !watch {
		w.stopWatching()
	}
	back := TakeTrailers(w.Header())
	w.ResponseWriter.WriteHeader(a.status)
	back()
	if len(raw) == 0 {
		return nil
	}
	_, err := w.ResponseWriter.Write(raw)
	return err
}

// TakeTrailers removes the trailers that the handler has set while its response was held back:
// otherwise they would be sent as header fields, too. back restores them.
func TakeTrailers(h http.Header) (back func()) {
	taken := map[string][]string{}
	for _, list := range h["Trailer"] {
		for name := range strings.SplitSeq(list, ",") {
			name = http.CanonicalHeaderKey(strings.TrimSpace(name))
			if values, ok := h[name]; ok && name != "Trailer" {
				taken[name] = values
				delete(h, name)
			}
		}
	}
	return func() { maps.Copy(h, taken) }
}

func (w *Writer) passWatched(p []byte) (int, error) {
	switch w.watch.feed(p) {
	case fails:
		w.tooLate()
		return 0, ErrLate
	case passes:
		w.stopWatching()
	}
	return w.ResponseWriter.Write(p)
}

// failed switches from watching a success to holding an error.
func (w *Writer) failed() {
	a := w.watch
	w.watch = nil
	a.keep()
	a.rule = a.holding()
	w.held = &held{status: a.rule.Status, body: a.raw, watch: a}
	a.raw, a.passing = nil, true
}

// ended decides at the end of the body.
func (w *Writer) ended() {
	a := w.watch
	switch v := a.end(w.Header(), false); {
	case v == fails && a.passing:
		w.tooLate()
	case v == fails:
		w.failed()
	case a.passing:
		w.stopWatching()
	default:
		_ = w.passOn(false) // the client is gone
	}
}

func (w *Writer) tooLate() {
	w.late = true
	if w.config.Observe != nil {
		w.config.Observe(w.watch.holding().Status, JSON)
	}
	w.stopWatching()
}

func (w *Writer) stopWatching() {
	if w.watch != nil {
		w.watch.release()
		w.watch = nil
	}
}
