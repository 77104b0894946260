package conditional

import (
	"context"
	"net/http"

	"github.com/gatehouse/gatehouse/module/internal/rest/etag"
	"github.com/gatehouse/gatehouse/module/internal/rest/operation"
	"github.com/gatehouse/gatehouse/module/internal/rest/responsewriter"
)

// read answers GET and HEAD with a tag, and 304 where the client has the answer already.
func (t *Tags) read(next operation.Handler) operation.Handler {
	return func(w http.ResponseWriter, c *operation.Call) error {
		conditions, refused := etag.Parse(c.Request.Header)
		if refused != nil {
			return refused
		}
		maker, err := t.maker(c, c.Match)
		if err != nil {
			return err
		}
		theirs, bare := "", withoutConditions(c)
		known, posts := maker.UnderlyingAll(conditions.NoneMatch), c.Match.Operation.Requests.ReadsByPost()
		if !posts { // an answer to a POST has no tag of what the client reads
			bare.OnRequest = func(r *http.Request) {
				if len(known) > 0 { // then the API need not send it
					r.Header.Set("If-None-Match", etag.Join(known))
				}
			}
			bare.OnAnswer = func(h http.Header) { theirs = h.Get("Etag") }
		}
		held := responsewriter.NewHold(w, maxTagged)
		if conditions.HasNoneMatch {
			var ctx context.Context
			ctx, held.Surplus = responsewriter.NewSurplus(bare.Request.Context())
			bare.Request = bare.Request.WithContext(ctx)
		}
		give := func(tag etag.Tag) (notModified bool) {
			held.Header().Set("ETag", tag.String())
			if notModified = conditions.HasNoneMatch && (conditions.NoneMatch.Any || conditions.NoneMatch.Resembles(tag)); notModified {
				held.Empty(http.StatusNotModified)
			}
			return notModified
		}
		held.Decide = func() {
			h := held.Header()
			if responsewriter.Streams(h) || held.Status() == http.StatusSwitchingProtocols {
				_ = held.Pass() // the next write tells of a client that has gone
				return
			}
			h.Del("Etag")
			h.Del("Accept-Ranges")
			tag, ok := maker.Derive(theirs)
			switch {
			case held.Status() == http.StatusOK && (!ok || tag.Weak):
				return // the tag is made of the body
			case ok && (held.Status() == http.StatusOK || held.Status() == http.StatusNotModified):
				give(tag)
			}
			_ = held.Pass() // the next write tells of a client that has gone
		}
		held.Full = func() bool { // too long for a tag of the body
			tag, ok := maker.Derive(theirs)
			return ok && give(tag)
		}
		if err := held.Surplus.Send(func() error { return next(held, bare) }); err != nil {
			return operation.HeldError(held, err)
		}
		if !held.Passed() && !held.Cut() && held.Status() != 0 {
			give(etag.OfBody(held.Body()))
		}
		_ = held.Pass() // fails only when the client has gone
		return nil
	}
}
