package handler

import (
	"log/slog"
	"net/http"
	"sync"

	"github.com/gatehouse/gatehouse/module/guard"
	"github.com/gatehouse/gatehouse/module/internal/metrics"
	"github.com/gatehouse/gatehouse/module/internal/rest/responsewriter"
)

// UpstreamAnswers removes header fields that only the gateway may send (guard.Answer) from an
// upstream's responses. It counts each removal and logs the first of each kind.
type UpstreamAnswers struct {
	answer *guard.Answer
	log    *slog.Logger
	counts map[guard.AnswerField]metrics.Counter
	logged map[guard.AnswerField]*sync.Once
}

// NewUpstreamAnswers returns one for a handler whose challenges have these realms, in addition
// to those of the authorization server, which every gateway has.
func NewUpstreamAnswers(log *slog.Logger, realms ...string) *UpstreamAnswers {
	u := &UpstreamAnswers{
		answer: guard.NewAnswer(realms...), log: log,
		counts: metrics.ByName(guard.AnswerFields, metrics.Set{}.UpstreamField), logged: make(map[guard.AnswerField]*sync.Once),
	}
	for _, f := range guard.AnswerFields {
		u.logged[f] = new(sync.Once)
	}
	return u
}

// From wraps the writer of a response that may come from an upstream. set is called just before
// the header is written, and may be nil. The caller MUST call Finish when the upstream has
// responded.
func (u *UpstreamAnswers) From(w http.ResponseWriter, set func(http.Header)) *UpstreamWriter {
	answer := &UpstreamWriter{set: set, upstream: u}
	answer.ResponseWriter, answer.Editor = w, answer
	return answer
}

// UpstreamWriter is the writer of a response that may come from an upstream.
type UpstreamWriter struct {
	responsewriter.HeaderWriter
	set      func(http.Header) // may be nil
	upstream *UpstreamAnswers  // nil for the gateway's own answers, which may contain every field
}

// EditHeader implements [responsewriter.HeaderEditor].
func (w *UpstreamWriter) EditHeader(h http.Header, final bool) {
	w.Finish()
	if final && w.set != nil {
		w.set(h)
	}
}

// Finish MUST be called when the upstream has responded. What is in the header by then is sent
// as trailers, or with the error that replaces the response.
func (w *UpstreamWriter) Finish() {
	if w.upstream != nil {
		w.upstream.answer.Strip(w.Header(), w.upstream.countRemoved)
	}
}

func (u *UpstreamAnswers) countRemoved(f guard.AnswerField) {
	u.counts[f].Inc()
	u.logged[f].Do(func() {
		u.log.Warn("the upstream sent a header field that only the gateway may send; it is removed, and counted from now on", "field", string(f))
	})
}

// OwnAnswer marks the response about to be written to w as the gateway's own: handlers in front
// that treat it as an upstream's leave its cookies and challenges alone.
func OwnAnswer(w http.ResponseWriter) {
	for w != nil {
		if h, ok := w.(*UpstreamWriter); ok {
			h.upstream = nil
		}
		wrapper, ok := w.(interface{ Unwrap() http.ResponseWriter })
		if !ok {
			return
		}
		w = wrapper.Unwrap()
	}
}
