package restapi

import (
	"encoding/json"
	"net/http"

	"github.com/caddyserver/caddy/v2/modules/caddyhttp"

	"github.com/gatehouse/gatehouse/module/internal/handler"
	"github.com/gatehouse/gatehouse/module/internal/rest/etag"
	"github.com/gatehouse/gatehouse/module/internal/rest/mapping"
	"github.com/gatehouse/gatehouse/module/internal/rest/responsewriter"
	"github.com/gatehouse/gatehouse/module/internal/rest/routes"
)

// tagBody is how much of an answer is held to derive a tag from it, where the upstream
// gives none. A longer one has no tag.
const tagBody = 256 << 10

// tags gives answers an ETag, and honours the conditions of requests on it.
type tags struct {
	h *REST
	// plans identify what is done to the answers of operations that read.
	plans map[*routes.Operation]string
}

func (h *REST) takeTags() {
	t := &tags{h, make(map[*routes.Operation]string)}
	editions := append([]edition{h.plain}, h.editions...)
	for _, e := range editions {
		for _, o := range e.table.Operations() {
			if o.Resource.ETag && o.Method == http.MethodGet {
				declared, _ := json.Marshal(o.Resource) // it came from JSON
				t.plans[o] = etag.Plan(o.Path, string(declared))
			}
		}
	}
	h.tags = t
}

// around is an operation of a resource that declares tags.
func (t *tags) around(m routes.Match, next operation) operation {
	if m.Operation.Method == http.MethodGet {
		return t.read(next)
	}
	return t.change(next)
}

// plan identifies what is done to an answer for this caller. The links in it are those
// that the caller's scopes allow, and a cursor is the caller's own.
func (t *tags) plan(c *call, o *routes.Operation) string {
	parts := []string{t.plans[o], c.prefix, c.choice.MediaType}
	if access := handler.Caller(c.r); access != nil && len(o.Resource.Links) > 0 {
		parts = append(parts, access.Scopes...)
	}
	if access := handler.Caller(c.r); access != nil && o.Requests.ByCursor() {
		parts = append(parts, "cursor", access.Client, access.Subject)
	}
	return etag.Plan(parts...)
}

// bare is the call and what is asked without conditions: they are about our tags, which no
// upstream knows. Parts of an answer that is translated are not given.
func bare(c *call, asked mapping.Asked) (*call, mapping.Asked) {
	own := *c
	own.r = c.r.WithContext(c.r.Context())
	own.r.Header = c.r.Header.Clone()
	for _, name := range etag.Fields {
		delete(own.r.Header, name)
	}
	asked.Header = own.r.Header
	return &own, asked
}

// before has a call's upstream see what set adds to its request, and take notice of its
// answer's header.
func (c *call) before(set func(*http.Request), notice func(http.Header)) {
	inner := c.handler()
	changed := *c.edition
	changed.route = caddyhttp.HandlerFunc(func(w http.ResponseWriter, r *http.Request) error {
		set(r)
		return inner.ServeHTTP(responsewriter.OnHeader(w, notice), r)
	})
	c.edition = &changed
}

// read answers GET and HEAD with a tag, and 304 where the client has the answer already.
func (t *tags) read(next operation) operation {
	return func(w http.ResponseWriter, c *call, m routes.Match, asked mapping.Asked) error {
		conditions, refused := etag.Parse(c.r.Header)
		if refused != nil {
			return refused
		}
		plan, upstream := t.plan(c, m.Operation), ""
		own, asked := bare(c, asked)
		known, posts := conditions.NoneMatch.Underlying(plan), m.Operation.Requests.ReadsByPost()
		own.before(func(r *http.Request) {
			if len(known) > 0 && !posts { // then the upstream need not send it
				r.Header.Set("If-None-Match", etag.Join(known))
			}
		}, func(h http.Header) {
			if !posts { // else it is no tag of what the client reads
				upstream = h.Get("Etag")
			}
		})
		m.Head = false // the tag of a HEAD is that of the GET; nobody sends the body
		held := responsewriter.NewHold(w, tagBody)
		give := func(tag etag.Tag) {
			h := held.Header()
			h.Set("ETag", tag.String())
			if conditions.HasNoneMatch && (conditions.NoneMatch.Any || conditions.NoneMatch.Resembles(tag)) {
				held.Empty(http.StatusNotModified)
			}
		}
		held.Decide = func() {
			h := held.Header()
			if responsewriter.Streams(h) {
				_ = held.Pass()
				return
			}
			h.Del("Etag")
			h.Del("Accept-Ranges")
			tag, ok := etag.Derive(upstream, plan)
			switch {
			case held.Status() != http.StatusOK && held.Status() != http.StatusNotModified:
			case ok:
				give(tag)
			case held.Status() == http.StatusOK:
				return // the body will tell
			}
			_ = held.Pass() // the next write tells of a client that has gone
		}
		if err := next(held, own, m, asked); err != nil {
			return early(held, err)
		}
		if !held.Passed() && held.Status() != 0 {
			give(etag.OfBody(held.Body()))
		}
		_ = held.Pass() // a client that has gone is not told
		return nil
	}
}
