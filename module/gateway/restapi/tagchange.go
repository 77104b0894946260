package restapi

import (
	"encoding/json"
	"errors"
	"net/http"
	"time"

	"github.com/gatehouse/gatehouse/module/internal/handler"
	"github.com/gatehouse/gatehouse/module/internal/rest/answer"
	"github.com/gatehouse/gatehouse/module/internal/rest/etag"
	"github.com/gatehouse/gatehouse/module/internal/rest/mapping"
	"github.com/gatehouse/gatehouse/module/internal/rest/responsewriter"
	"github.com/gatehouse/gatehouse/module/internal/rest/routes"
	"github.com/gatehouse/gatehouse/module/rest/envelope"
)

var failed = envelope.Refuse(http.StatusPreconditionFailed, "the resource is not, or no longer, as the condition says")

// change carries out what changes a resource if the conditions of the request hold. To
// know that, the resource is read; an upstream that knows conditions itself is told ours
// in its own words, since somebody may change the resource in between.
func (t *tags) change(next operation) operation {
	return func(w http.ResponseWriter, c *call, m routes.Match, asked mapping.Asked) error {
		conditions, refused := etag.Parse(c.r.Header)
		if refused != nil {
			return refused
		}
		since, dated := unmodifiedSince(c.r.Header)
		own, asked := bare(c, asked)
		w = responsewriter.OnHeader(w, func(h http.Header) { h.Del("Etag") }) // the upstream's; the next GET has ours
		if !conditions.Any() && !dated {
			return next(w, own, m, asked)
		}
		up, refused := m.Request(asked)
		if refused != nil {
			return refused
		}
		read, _, _ := c.table.Match(http.MethodGet, c.choice.Path)
		if read.Operation == nil {
			return envelope.Refuse(http.StatusPreconditionFailed, "nothing can be read here that the condition could be about")
		}
		now, err := t.current(c, read)
		if err != nil {
			return err
		}
		if !conditions.Hold(now.Current) || dated && !conditions.HasMatch && now.modified.After(since) {
			return failed
		}
		if conditions.HasMatch && now.upstream != "" && now.at == up.Path+"?"+up.RawQuery {
			own.before(func(r *http.Request) { r.Header.Set("If-Match", now.upstream) }, func(http.Header) {})
		}
		return next(w, own, m, asked)
	}
}

// state is how a resource is.
type state struct {
	etag.Current
	modified time.Time
	upstream string // its strong tag at the upstream, "" for none
	at       string // and what it is the tag of
}

func unmodifiedSince(h http.Header) (time.Time, bool) {
	at, err := http.ParseTime(h.Get("If-Unmodified-Since"))
	return at, err == nil // RFC 9110 section 13.1.4: what is no date is passed over
}

// current reads a resource as this caller would, and derives its tag.
func (t *tags) current(c *call, m routes.Match) (now state, err error) {
	up, refused := c.upstream(m, mapping.Asked{Header: make(http.Header)})
	if refused != nil {
		return now, envelope.Fail(refused.Status, refused.Code, refused.Message, refused)
	}
	for _, name := range append([]string{"Idempotency-Key", "Prefer", "Content-Type", "Content-Encoding"}, etag.Fields...) {
		if _, ours := up.Set[name]; !ours { // the type of the body is, where the upstream is asked with one
			up.Set[name] = nil
		}
	}
	upstream := ""
	own := *c
	own.before(func(*http.Request) {}, func(h http.Header) {
		if !m.Operation.Requests.ReadsByPost() {
			upstream = h.Get("Etag")
		}
	})
	answer := m.Answer(up, answer.Caller{Prefix: c.prefix, Allowed: handler.Permits(c.r)})
	to, dialect := t.h.supply(own.edition, m.Operation, own.route, c.dialects[m.Operation])
	got := t.h.alone(c.r.Context(), to, c.r, up, answer, dialect, tagBody)
	switch {
	case got.Status == http.StatusNotFound || got.Status == http.StatusGone:
		return now, nil
	case got.Status > 299:
		var told struct {
			Error struct{ Code, Message string }
		}
		_ = json.Unmarshal(got.Body, &told) // else what the status says
		return now, envelope.Fail(got.Status, told.Error.Code, told.Error.Message, errUnread)
	}
	now.Exists = true
	now.modified, _ = http.ParseTime(got.Header.Get("Last-Modified"))
	plan := t.plan(c, m.Operation)
	if now.Tag, now.Tagged = etag.Derive(upstream, plan); now.Tagged {
		if !now.Tag.Weak {
			now.upstream, now.at = upstream, up.Path+"?"+up.RawQuery
		}
	} else if got.Status == http.StatusOK && !got.Cut {
		now.Tag, now.Tagged = etag.OfBody(got.Body), true
	}
	return now, nil
}

var errUnread = errors.New("the resource that a condition is about could not be read")

// unfit keeps conditions on tags from an upstream whose answers clients see translated, in
// a resource that does not declare any: no answer has a tag there, so none can match.
func unfit(next operation) operation {
	return func(w http.ResponseWriter, c *call, m routes.Match, asked mapping.Asked) error {
		if m.Operation.Method == http.MethodGet || len(c.r.Header["If-Match"]) == 0 && len(c.r.Header["If-None-Match"]) == 0 {
			return next(w, c, m, asked)
		}
		read, _, _ := c.table.Match(http.MethodGet, c.choice.Path)
		if read.Operation == nil || !read.Operation.Answers.Translates() {
			return next(w, c, m, asked)
		}
		conditions, refused := etag.Parse(c.r.Header)
		switch {
		case refused != nil:
			return refused
		case conditions.HasMatch && !conditions.Match.Any:
			return failed
		case conditions.HasNoneMatch && !conditions.NoneMatch.Any:
			own := *c
			own.r = c.r.WithContext(c.r.Context())
			own.r.Header = c.r.Header.Clone()
			delete(own.r.Header, "If-None-Match")
			c = &own
		}
		return next(w, c, m, asked)
	}
}
