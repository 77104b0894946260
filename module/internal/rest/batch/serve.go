package batch

import (
	"cmp"
	"context"
	"net/http"
	"time"

	"github.com/gatehouse/gatehouse/module/internal/rest/answer"
	"github.com/gatehouse/gatehouse/module/internal/rest/operation"
	"github.com/gatehouse/gatehouse/module/internal/rest/routes"
)

const (
	// beginTime and graceTime are a Runner's Begin and Grace. Proxies and clients commonly wait
	// for an answer for 30 to 60 seconds.
	beginTime = 30 * time.Second
	graceTime = 60 * time.Second
	// maxAnswers bounds the answers to all items of a batch together, and maxAnswer each.
	maxAnswers = 4 << 20
	maxAnswer  = 64 << 10
)

// Handler answers a PATCH of a collection.
type Handler struct {
	// Forbidden reports whether a rule keeps the client from changing the resource with a path.
	Forbidden func(path string) bool
	// Charge counts the changes of the resources with these paths against the client's limits.
	Charge func(w http.ResponseWriter, paths []string) error
	// Asker returns how the API is asked to carry out a match.
	Asker func(routes.Match) operation.Ask
}

// Serve implements operation.Handler.
func (h *Handler) Serve(w http.ResponseWriter, c *operation.Call) error {
	p, refused := newPlan(c, h.Forbidden)
	if refused != nil {
		return refused
	}
	if err := h.Charge(w, p.paths()); err != nil {
		return err
	}
	caller := answer.Caller{Prefix: c.Prefix, Allowed: c.Permits}
	limit := min(maxAnswer, maxAnswers/len(p.items))
	run := Runner{Begin: beginTime, Grace: graceTime, Do: func(ctx context.Context, g Group) Result {
		one := p.changes[g.ID]
		got := h.Asker(one.match)(ctx, one.up, one.match.Answer(one.up, caller), limit)
		if got.Cut {
			got.Body = nil
		}
		return Result{Status: got.Status, Body: got.Body}
	}}
	answer := NewAnswer(p.items, p.groups, run.Run(c.Request.Context(), p.groups))
	w.Header().Set("Content-Type", cmp.Or(c.MediaType, "application/json"))
	w.WriteHeader(answer.Status())
	_ = answer.Write(w) // fails only when the client has gone; the changes are made
	return nil
}
