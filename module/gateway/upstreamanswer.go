package gateway

import (
	"log/slog"
	"net/http"
	"sync"

	"github.com/gatehouse/gatehouse/module/guard"
	"github.com/gatehouse/gatehouse/module/internal/metrics"
)

// UpstreamAnswers removes from the answers of an upstream what only the gateway may say
// (guard.Answer), counts what it removes, and logs the first of each kind.
type UpstreamAnswers struct {
	answer *guard.Answer
	log    *slog.Logger
	counts map[guard.AnswerField]metrics.Counter
	logged map[guard.AnswerField]*sync.Once
}

// NewUpstreamAnswers makes one for a handler whose challenges have these realms, besides
// those of the authorization server that every gateway has.
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

func (u *UpstreamAnswers) strip(h http.Header) { u.answer.Strip(h, u.removed) }

func (u *UpstreamAnswers) removed(f guard.AnswerField) {
	u.counts[f].Inc()
	u.logged[f].Do(func() {
		u.log.Warn("the upstream sent a header field that only the gateway may send; it is removed, and counted from now on", "field", string(f))
	})
}

// From wraps the writer of an answer that an upstream may give; set, which may be nil, changes
// the header when it is written. finish must be called when the upstream has answered: it
// removes what is in trailers, and in the header of an answer that was not given.
func (u *UpstreamAnswers) From(w http.ResponseWriter, set func(http.Header)) (writer http.ResponseWriter, finish func()) {
	h := u.from(w, set)
	return h, h.finish
}

func (u *UpstreamAnswers) from(w http.ResponseWriter, set func(http.Header)) *headerWriter {
	h := onHeader(w, set)
	h.upstream = u
	return h
}

// ownAnswer says that the answer to be written to w is the gateway's own: handlers in front
// that stand before an upstream leave its cookies and challenges alone.
func ownAnswer(w http.ResponseWriter) {
	for w != nil {
		if h, ok := w.(*headerWriter); ok {
			h.upstream = nil
		}
		wrapper, ok := w.(interface{ Unwrap() http.ResponseWriter })
		if !ok {
			return
		}
		w = wrapper.Unwrap()
	}
}

// HideCookies removes the gateway's own cookies from a request that goes on to an API.
func HideCookies(r *http.Request) { guard.StripCookies(r.Header) }
