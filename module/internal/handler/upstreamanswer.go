package handler

import (
	"log/slog"
	"net/http"
	"sync"

	"github.com/caddyserver/caddy/v2/modules/caddyhttp"

	"github.com/gatehouse/gatehouse/module/guard"
	"github.com/gatehouse/gatehouse/module/internal/metrics"
)

// UpstreamAnswers removes header fields that only the gateway may send (guard.Answer) from
// the answers of an upstream. It counts each removal and logs the first of each kind.
type UpstreamAnswers struct {
	answer *guard.Answer
	log    *slog.Logger
	counts map[guard.AnswerField]metrics.Counter
	logged map[guard.AnswerField]*sync.Once
}

// NewUpstreamAnswers makes one for a handler whose challenges have these realms, besides
// those of the authorization server, which every gateway has.
func NewUpstreamAnswers(log *slog.Logger, realms ...string) *UpstreamAnswers {
	u := &UpstreamAnswers{
		answer: guard.NewAnswer(realms...), log: log,
		counts: make(map[guard.AnswerField]metrics.Counter), logged: make(map[guard.AnswerField]*sync.Once),
	}
	for _, f := range guard.AnswerFields {
		u.counts[f], u.logged[f] = metrics.Set{}.UpstreamField(string(f)), new(sync.Once)
	}
	return u
}

// From wraps the response writer of an answer that an upstream may give. set is called just
// before the header is written, and may be nil. The caller MUST call Finish when the upstream
// has answered.
func (u *UpstreamAnswers) From(w http.ResponseWriter, set func(http.Header)) *UpstreamWriter {
	return &UpstreamWriter{ResponseWriterWrapper: caddyhttp.ResponseWriterWrapper{ResponseWriter: w}, set: set, upstream: u}
}

func (u *UpstreamAnswers) strip(h http.Header) { u.answer.Strip(h, u.countRemoved) }

func (u *UpstreamAnswers) countRemoved(f guard.AnswerField) {
	u.counts[f].Inc()
	u.logged[f].Do(func() {
		u.log.Warn("the upstream sent a header field that only the gateway may send; it is removed, and counted from now on", "field", string(f))
	})
}

// OwnAnswer marks the answer about to be written to w as the gateway's own: handlers in front
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
