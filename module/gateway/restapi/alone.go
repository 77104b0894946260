package restapi

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"runtime/debug"

	"github.com/gatehouse/gatehouse/module/internal/rest/answer"
	"github.com/gatehouse/gatehouse/module/internal/rest/mapping"
	"github.com/gatehouse/gatehouse/module/internal/rest/operation"
	"github.com/gatehouse/gatehouse/module/internal/rest/responsewriter"
	"github.com/gatehouse/gatehouse/module/internal/rest/routes"
	"github.com/gatehouse/gatehouse/module/internal/rest/translate"
	"github.com/gatehouse/gatehouse/module/rest/envelope"
)

// asker returns how the API is asked to carry out a match for a client.
func (h *REST) asker(c *call, m routes.Match) operation.Ask {
	to, dialect := c.api.Route(m.Operation, nil, c.handler(), c.dialects[m.Operation])
	return func(ctx context.Context, up mapping.Upstream, answer *answer.Answer, limit int) responsewriter.Reply {
		return h.alone(ctx, to, c.Request, up, answer, dialect, limit)
	}
}

// alone carries a request to an upstream and waits for the answer. It can run in a
// goroutine of its own, and several at a time for one client: parent is read only, its body
// excepted, which up replaces. parent is nil where there is no client: then the request has
// the header that up sets. dialect is the operation's (edition.dialects), or the handler's.
// limit bounds the bytes of the answer that are kept.
func (h *REST) alone(ctx context.Context, to route, parent *http.Request, up mapping.Upstream, answer *answer.Answer, dialect *envelope.Config, limit int) (got responsewriter.Reply) {
	up.Replaced = true
	up.Set["Upgrade"] = nil // there is nobody to talk to
	rec := responsewriter.NewRecorder(limit)
	r := upstreamRequest(ctx, rec, parent, up)
	err := h.through(rec, r, to, answer, dialect)
	if err == nil && rec.Status() >= 300 && rec.Status() < 400 {
		err = errLed
	}
	if err != nil {
		rec = responsewriter.NewRecorder(limit)
		envelope.Write(rec, r, statusOf(err), told(err))
	}
	return rec.Reply()
}

// errLed is for a redirect, to a page to sign in at say, and for a 304 to a condition that
// nobody made: whoever asks alone cannot be led anywhere, and has nothing yet.
var errLed = envelope.Fail(http.StatusBadGateway, "upstream_error", "the service behind the gateway gave an answer that could not be read", errors.New("a redirect, or 304, where nobody can follow"))

// through carries a request to an upstream, and the answer through dialect and translation
// to w. Its error says why there is no answer, or no whole one, and is logged; a panic of a
// handler becomes one.
func (h *REST) through(w http.ResponseWriter, r *http.Request, to route, answer *answer.Answer, dialect *envelope.Config) (err error) {
	defer func() {
		// Nobody recovers for a goroutine, and one request must not end the process.
		if p := recover(); p != nil {
			if p != http.ErrAbortHandler { //nolint:errorlint // net/http compares it so too
				h.log.Error("a handler of the upstream panicked", "panic", fmt.Sprint(p), "stack", string(debug.Stack()), "method", r.Method, "path", r.URL.Path)
			}
			err = operation.BrokenOff(operation.ErrBrokenOff)
		}
	}()
	translated := translate.New(w, translate.Config{Answer: answer})
	defer translated.Release()
	shaped := envelope.NewWriter(translated, r, dialect)
	dialect.Ask(r.Header)
	if err = to.ServeHTTP(shaped, r); err == nil {
		shaped.Finish()
		if f := translated.Finish(); f != nil {
			err = h.unreadable(f)
		} else {
			h.settle(translated, r, answer, dialect)
		}
	}
	if err != nil {
		h.log.Error("request failed", "error", err, "method", r.Method, "path", r.URL.Path)
	}
	return err
}
