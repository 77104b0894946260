package restapi

import (
	"errors"
	"net/http"
	"net/url"

	"github.com/caddyserver/caddy/v2/modules/caddyhttp"

	"github.com/gatehouse/gatehouse/module/internal/rest/answer"
	"github.com/gatehouse/gatehouse/module/internal/rest/operation"
	"github.com/gatehouse/gatehouse/module/internal/rest/responsewriter"
	"github.com/gatehouse/gatehouse/module/internal/rest/translate"
	"github.com/gatehouse/gatehouse/module/internal/rest/upstream"
	"github.com/gatehouse/gatehouse/module/rest/envelope"
)

// operate is the plain operation: it sends the request of a call to the API and translates the
// answer.
func (h *REST) operate(w http.ResponseWriter, c *call) error {
	m := c.Match
	up, refused := c.Upstream(m, c.Asked)
	if refused != nil {
		return refused
	}
	if m.Operation.Follows() {
		return h.follow(w, c, up)
	}
	query, _ := url.ParseQuery(c.Asked.RawQuery) // Request has read it
	answer := m.Answer(up, answer.Caller{Prefix: c.Prefix, Query: query, Allowed: c.Permits})
	out := newLeaving(w, c, m, answer)
	defer out.finish()
	to, dialect := c.api.Route(m.Operation, nil, c.handler(), c.dialects[m.Operation])
	out.withholds = upstream.Secret(to)
	return h.send(out, c, to, upstreamRequest(c.Request.Context(), w, c.Request, up), answer, dialect)
}

// send makes the upstream answer a client, by way of its dialect and the translation. r is
// the upstream's request.
func (h *REST) send(w http.ResponseWriter, c *call, api route, r *http.Request, answer *answer.Answer, dialect *envelope.Config) error {
	to := translate.New(w, translate.Config{Answer: answer, MediaType: c.choice.MediaType, Locate: withoutSecrets(upstream.Secret(api), h.locator(c, r))})
	defer to.Release()
	if out, ok := w.(*leaving); ok {
		out.to = to
	}
	shaped := envelope.NewWriter(to, r, dialect)
	dialect.Ask(r.Header)
	err := unbroken(to, r, func() error {
		if err := api.ServeHTTP(shaped, r); err != nil {
			return err
		}
		shaped.Finish()
		return nil
	})
	f := to.Finish()
	if f != nil {
		err = h.unreadable(f)
	}
	switch {
	case err == nil:
		h.settle(to, c.Request, answer, dialect)
		h.noteExceeded(answer)
		h.noteCut(answer)
		return nil
	case !to.Committed():
	case f != nil:
		h.log.Error("an answer was broken off", "error", err, "method", c.Request.Method, "path", c.Request.URL.Path)
		panic(http.ErrAbortHandler) // nobody may take what was sent for the whole
	default:
		return operation.NewLate(err)
	}
	w.Header().Del("Location") // of an answer that is not given
	return err
}

// handler returns the way to the API of a call.
func (c *call) handler() route {
	to := c.route
	if to == nil {
		to = c.next
	}
	if c.OnRequest == nil && c.OnAnswer == nil {
		return to
	}
	return caddyhttp.HandlerFunc(func(w http.ResponseWriter, r *http.Request) error {
		if c.OnRequest != nil {
			c.OnRequest(r)
		}
		if c.OnAnswer != nil {
			w = responsewriter.OnHeader(w, c.OnAnswer)
		}
		return to.ServeHTTP(w, r)
	})
}

// unreadable is an answer that could not be translated.
func (h *REST) unreadable(f *translate.Failure) error {
	if errors.Is(f, translate.ErrNothing) {
		return envelope.Fail(http.StatusNotFound, "", "", f)
	}
	h.metrics.Untranslated(string(f.Kind))
	return envelope.Fail(http.StatusBadGateway, "upstream_error", "the service behind the gateway gave an answer that could not be read", f)
}

// settle answers a write that succeeded with an answer that has no resource where one is
// declared, and logs that, unless nothing was declared and a fail_when has judged the text.
func (h *REST) settle(to *translate.Writer, r *http.Request, answer *answer.Answer, dialect *envelope.Config) {
	judged := answer.ItemPointer() == "" && dialect.JudgesText(to.Header())
	if f := to.Settle(); f != nil && !judged {
		h.metrics.Untranslated(string(f.Kind))
		if answer.ItemPointer() == "" {
			h.log.Warn("the answer to a write is not a JSON object, and was taken for a success by its status", "error", f.Err, "method", r.Method, "path", r.URL.Path)
			return
		}
		h.log.Warn("the answer to a write has no resource where one is declared", "item", answer.ItemPointer(), "error", f.Err, "method", r.Method, "path", r.URL.Path)
	}
}

// noteExceeded logs, once for each resource, that the upstream gave more items than it was
// asked for.
func (h *REST) noteExceeded(answer *answer.Answer) {
	if path, ok := answer.Exceeded(); ok {
		if _, known := h.exceeded.LoadOrStore(path, true); !known {
			h.log.Warn("the API gave more items than `limit` asked for, so it does not know the parameter: write its own name with `list { send limit <name> }`, or `list { paginate local }` if it always gives the whole list", "resource", path)
		}
	}
}

// unbroken calls a handler, and turns the panic by which a proxy says that the upstream has
// gone in mid-answer into an error as long as nothing was sent: a status tells the client
// more than a connection that ends. A client that has gone itself is told nothing.
func unbroken(to *translate.Writer, r *http.Request, call func() error) (err error) {
	defer func() {
		p := recover()
		if p == nil {
			return
		}
		if p != http.ErrAbortHandler || to.Committed() || r.Context().Err() != nil { //nolint:errorlint // net/http compares it so too
			panic(p)
		}
		err = operation.BrokenOff(operation.ErrBrokenOff)
	}()
	return call()
}
