package restapi

import (
	"net/http"
	"strings"

	"github.com/caddyserver/caddy/v2/modules/caddyhttp"

	"github.com/gatehouse/gatehouse/module/gateway/apilimit"
	"github.com/gatehouse/gatehouse/module/guard"
	"github.com/gatehouse/gatehouse/module/internal/handler"
	"github.com/gatehouse/gatehouse/module/internal/httpx"
	"github.com/gatehouse/gatehouse/module/internal/rest/batch"
	"github.com/gatehouse/gatehouse/module/internal/rest/conditional"
	"github.com/gatehouse/gatehouse/module/internal/rest/mapping"
	"github.com/gatehouse/gatehouse/module/internal/rest/operation"
	"github.com/gatehouse/gatehouse/module/internal/rest/request"
	"github.com/gatehouse/gatehouse/module/internal/rest/responsewriter"
	"github.com/gatehouse/gatehouse/module/internal/rest/routes"
	"github.com/gatehouse/gatehouse/module/internal/rest/turns"
	"github.com/gatehouse/gatehouse/module/internal/rest/version"
	"github.com/gatehouse/gatehouse/module/internal/token"
	"github.com/gatehouse/gatehouse/module/rest/envelope"
	"github.com/gatehouse/gatehouse/module/rest/resource"
)

// call is one client's request, its version chosen.
type call struct {
	operation.Call
	*edition
	choice       version.Choice
	versionRoots []string // of the handler
	next         caddyhttp.Handler
}

// unacceptable is for a request that accepts none of the types that the API answers with.
var unacceptable = envelope.Refuse(http.StatusNotAcceptable, "Accept must name application/json or a version of this API: it is answered in nothing else")

// ServeHTTP finds the operation of a request and answers it.
func (h *REST) ServeHTTP(w http.ResponseWriter, r *http.Request, next caddyhttp.Handler) error {
	r.Body = httpx.Unclosed(r)
	handler.AddPlaceholders(r)
	handler.CloseWhenExiting(w, r)
	guard.StripCookies(r.Header)
	choice, refused := h.versions.Negotiate(r.URL.EscapedPath(), r.Header["Accept"])
	answer := h.answers.From(w, func(header http.Header) {
		choice.Header(header)
		httpx.JoinVary(header)
	})
	defer answer.Finish()
	w = answer
	if err := h.serve(w, r, next, choice, refused); err != nil {
		handler.LeaveBody(w, r)
		choice.Header(w.Header())
		return h.answerError(w, r, err)
	}
	return nil
}

func (h *REST) serve(w http.ResponseWriter, r *http.Request, next caddyhttp.Handler, choice version.Choice, refused *envelope.Refusal) error {
	if httpx.IsEarly(r) {
		return envelope.Fail(http.StatusTooEarly, "too_early", httpx.TooEarly, nil)
	}
	if httpx.HasTooManyFields(r) { // the upstream might not read those of `send fixed` and `login`
		return envelope.Refuse(http.StatusRequestHeaderFieldsTooLarge, httpx.TooManyFields)
	}
	if refused != nil {
		return refused
	}
	c := h.newCall(r, next, choice)
	if choice.Index >= 0 {
		if err := checkVersionRules(w, c); err != nil {
			return err
		}
	}
	d := dispatch(h, r, choice, c.table)
	if d.job != nil && d.job.When == "preferred" {
		w.Header().Add("Vary", "Prefer")
	}
	switch d.target {
	case toDescription:
		return h.descriptions.serve(w, c)
	case toJobStatus:
		return h.jobs.withStore(func() error { return h.jobs.api.ServeJob(w, &c.Call, d.jobID) })
	case toNewJob:
		return h.jobs.withStore(func() error { return h.jobs.submit(w, c, d) })
	case toJobMethods:
		return operation.Allow(w, r, "POST, OPTIONS")
	case toUpstream:
		return h.passThrough(w, c)
	case toMethods:
		handler.LeaveBody(w, r)
		return operation.Allow(w, r, d.match.Allow)
	case toRefusal:
		return d.refused
	}
	h.counts[d.match.Operation.Kind].Inc()
	if err := h.readRequest(c, d.match); err != nil {
		return err
	}
	if !d.match.Head {
		return h.handlerOf(c, h.operate)(w, &c.Call)
	}
	ctx, surplus := responsewriter.NewSurplus(r.Context())
	c.Request = c.Request.WithContext(ctx)
	w = responsewriter.NewHead(w, surplus)
	return surplus.Send(func() error { return h.handlerOf(c, h.operate)(w, &c.Call) })
}

// newCall returns the call of a request whose version is chosen.
func (h *REST) newCall(r *http.Request, next caddyhttp.Handler, choice version.Choice) *call {
	c := &call{edition: h.editionOf(choice), choice: choice, versionRoots: h.versionRoots, next: requireAnswer(next)}
	c.Call = operation.Call{
		Request: r, Table: c.table, Path: choice.Path, Prefix: handler.Taken(r) + choice.Prefix, VersionPrefix: choice.Prefix, MediaType: choice.MediaType,
		Access: handler.Caller(r),
	}
	c.Permits = c.permits()
	return c
}

// editionOf returns the edition that answers a request.
func (h *REST) editionOf(choice version.Choice) *edition {
	if choice.Index >= 0 {
		return &h.editions[choice.Index]
	}
	return &h.plain
}

// readRequest adds to a call what its operation needs: the body where it must be known, and the
// sealer of cursors.
func (h *REST) readRequest(c *call, m routes.Match) error {
	c.Match, c.Asked = m, mapping.Asked{RawQuery: c.Request.URL.RawQuery, Header: c.Request.Header}
	if m.Operation.Requests.DropsBody() {
		if refused := request.RefuseBody(c.Request); refused != nil {
			return refused
		}
	}
	if m.Operation.Requests.ReadsBody() {
		var refused *envelope.Refusal
		if c.Asked.Body, refused = request.ReadBody(c.Request, h.MaxBody); refused != nil {
			return refused
		}
		c.Asked.Caller = callerOf(c.Request, c.Access)
	}
	if !m.Operation.Requests.ByCursor() {
		return nil
	}
	s, err := h.cursors.sealer(c)
	if err != nil {
		return envelope.Unavailable(err)
	}
	c.Asked.Sealer = s
	return nil
}

// callerOf returns the client and user, or the network of a caller without a token.
func callerOf(r *http.Request, a *token.Access) turns.Caller {
	c := turns.Caller{Gone: r.Context().Done()}
	if a == nil {
		c.Share = handler.ClientNetwork(r)
	} else {
		c.Client, c.Share = a.Client, a.Subject
	}
	return c
}

// handlerOf returns the handler of a call: the plain operation, in its conditions, in its
// Idempotency-Key.
func (h *REST) handlerOf(c *call, plain func(http.ResponseWriter, *call) error) operation.Handler {
	o := c.Match.Operation
	if o.Kind == resource.Batch {
		return h.batch(c).Serve
	}
	checked := h.withConditions(c, plain)
	if !o.Resource.Idempotency || o.Method != http.MethodPost {
		return checked
	}
	// A repetition gets the first answer, whatever the conditions say by now.
	return func(w http.ResponseWriter, of *operation.Call) error { return h.once.Serve(w, of, checked) }
}

// withConditions returns the plain operation with support for conditional requests.
func (h *REST) withConditions(c *call, plain func(http.ResponseWriter, *call) error) operation.Handler {
	o := c.Match.Operation
	if !o.Resource.ETag || o.Follows() { // a list of several answers has no tag
		return func(w http.ResponseWriter, of *operation.Call) error {
			of, refused := conditional.Untagged(of)
			if refused != nil {
				return refused
			}
			return plain(w, c.with(of))
		}
	}
	reader := conditional.Reader{
		Ask:    func(of *operation.Call, m routes.Match) operation.Ask { return h.asker(c.with(of), m) },
		Permit: c.mayRead,
		Charge: func(w http.ResponseWriter) error { // a conditional change costs no less than the read that it causes
			return apilimit.ChargeItems(w, c.Request, http.MethodGet, []apilimit.Item{{Also: c.versionAddress(c.choice.Path)}})
		},
	}
	return h.tags.Handle(o, reader, func(w http.ResponseWriter, of *operation.Call) error { return plain(w, c.with(of)) })
}

// with returns the call as a stage has changed it.
func (c *call) with(of *operation.Call) *call {
	if of == &c.Call {
		return c
	}
	changed := *c
	changed.Call = *of
	return &changed
}

// batch returns the handler for a PATCH of a collection.
func (h *REST) batch(c *call) *batch.Handler {
	// An item's path is that of the collection and an id.
	id := func(path string) string { return strings.TrimPrefix(path, c.Match.Address()) }
	permits := handler.PermitsBelow(c.Request)
	return &batch.Handler{
		Forbidden: func(path string) bool {
			return permits != nil && !permits(http.MethodPatch, id(path)) || c.forbiddenByVersion(http.MethodPatch, path)
		},
		Charge: func(w http.ResponseWriter, paths []string) error {
			items := make([]apilimit.Item, len(paths))
			for i, path := range paths {
				items[i] = apilimit.Item{Rest: id(path), Also: c.versionAddress(path)}
			}
			return apilimit.ChargeItems(w, c.Request, http.MethodPatch, items)
		},
		Asker: func(m routes.Match) operation.Ask { return h.asker(c, m) },
	}
}
