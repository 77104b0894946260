package restapi

import (
	"net/http"

	"github.com/caddyserver/caddy/v2/modules/caddyhttp"

	"github.com/gatehouse/gatehouse/module/guard"
	"github.com/gatehouse/gatehouse/module/internal/handler"
	"github.com/gatehouse/gatehouse/module/internal/rest/mapping"
	"github.com/gatehouse/gatehouse/module/internal/rest/request"
	"github.com/gatehouse/gatehouse/module/internal/rest/routes"
	"github.com/gatehouse/gatehouse/module/internal/rest/version"
	"github.com/gatehouse/gatehouse/module/rest/envelope"
	"github.com/gatehouse/gatehouse/module/rest/resource"
)

// call is one client's request.
type call struct {
	*edition
	choice version.Choice
	// prefix is what stands before every path of ours in an answer: what handlers in front
	// took from the path, and the version.
	prefix string
	next   caddyhttp.Handler
	r      *http.Request
}

// unacceptable is for a request that accepts none of the types that the API answers with.
var unacceptable = envelope.Refuse(http.StatusNotAcceptable, "Accept must name application/json or a version of this API: it is answered in nothing else")

// part answers requests besides the declared resources. It reports false, without having
// written anything, when a request is none of its own.
type part interface {
	serve(w http.ResponseWriter, c *call) (bool, error)
}

// operation answers one declared operation. The client's body is in asked when the match
// reads it, and still in the request otherwise.
type operation func(w http.ResponseWriter, c *call, m routes.Match, asked mapping.Asked) error

// ServeHTTP finds out what a request is and answers it.
func (h *REST) ServeHTTP(w http.ResponseWriter, r *http.Request, next caddyhttp.Handler) error {
	handler.ShowIdentity(r)
	handler.CloseWhenExiting(w, r)
	guard.StripCookies(r.Header)
	choice, refused := h.versions.Negotiate(r.URL.EscapedPath(), r.Header["Accept"])
	answer := h.answers.From(w, choice.Header)
	defer answer.Finish()
	w = answer
	err := h.serve(w, r, next, choice, refused)
	if err != nil {
		handler.LeaveBody(w, r)
		choice.Header(w.Header())
		return h.answerError(w, r, err)
	}
	return nil
}

func (h *REST) serve(w http.ResponseWriter, r *http.Request, next caddyhttp.Handler, choice version.Choice, refused *envelope.Refusal) error {
	if refused != nil {
		return refused
	}
	c := &call{edition: &h.plain, choice: choice, prefix: handler.Taken(r) + choice.Prefix, next: answering(next), r: r}
	if choice.Index >= 0 {
		c.edition = &h.editions[choice.Index]
		if err := asByPath(w, c); err != nil {
			return err
		}
	}
	for _, p := range h.parts {
		if done, err := p.serve(w, c); done || err != nil {
			return err
		}
	}
	m, declared, refused := c.table.Match(r.Method, choice.Path)
	switch {
	case c.table.Empty() || !declared && h.Undeclared == "pass":
		return h.pass(w, c)
	case refused != nil:
		return refused
	case m.Operation != nil && c.choice.Unacceptable:
		return unacceptable
	case m.Operation == nil:
		handler.LeaveBody(w, r)
		w.Header().Set("Allow", m.Allow)
		w.WriteHeader(http.StatusNoContent)
		return nil
	}
	h.counts[m.Operation.Kind].Inc()
	asked := mapping.Asked{RawQuery: r.URL.RawQuery, Header: r.Header}
	if m.Operation.Requests.ReadsBody() {
		if asked.Body, refused = request.ReadBody(r, h.MaxBody); refused != nil {
			return refused
		}
	}
	if err := h.withCursors(w, c, m, &asked); err != nil {
		return err
	}
	return h.wrap(m, h.operate)(w, c, m, asked)
}

// wrap is an operation with what stands around it.
func (h *REST) wrap(m routes.Match, plain operation) operation {
	if m.Operation.Kind == resource.Batch {
		return h.batch
	}
	op := unfit(plain)
	if m.Operation.Resource.ETag && !m.Operation.Follows() { // of several answers there is no tag
		op = h.tags.around(m, plain)
	}
	if m.Operation.Resource.Idempotency && m.Operation.Method == http.MethodPost {
		op = h.once.around(op) // what was answered once is answered so again, whatever the conditions say by now
	}
	return op
}
