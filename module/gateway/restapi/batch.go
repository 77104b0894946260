package restapi

import (
	"context"
	"crypto/sha256"
	"encoding/base64"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/gatehouse/gatehouse/module/gateway"
	"github.com/gatehouse/gatehouse/module/internal/handler"
	"github.com/gatehouse/gatehouse/module/internal/rest/answer"
	"github.com/gatehouse/gatehouse/module/internal/rest/batch"
	"github.com/gatehouse/gatehouse/module/internal/rest/mapping"
	"github.com/gatehouse/gatehouse/module/internal/rest/routes"
	"github.com/gatehouse/gatehouse/module/rest/envelope"
)

const (
	// batchBegin and batchGrace: see [batch.Runner]. Proxies and clients commonly wait for
	// an answer for 30 to 60 seconds.
	batchBegin = 30 * time.Second
	batchGrace = 60 * time.Second
	// batchMemory bounds what the answers to all items of a batch take together, and
	// batchAnswer what one may take.
	batchMemory = 4 << 20
	batchAnswer = 64 << 10
)

// change is one upstream request of a batch, checked and ready.
type change struct {
	match routes.Match
	up    mapping.Upstream
}

// planned is a batch of which nothing was sent yet.
type planned struct {
	items   []batch.Item
	groups  []batch.Group
	changes map[string]change // by the group's id
	paths   [][]string        // the addresses of each item, as this handler sees paths
}

// batch answers a PATCH of a collection.
func (h *REST) batch(w http.ResponseWriter, c *call, m routes.Match, asked mapping.Asked) error {
	p, refused := plan(c, m, asked)
	if refused != nil {
		return refused
	}
	if err := gateway.ChargeItems(w, c.r, http.MethodPatch, p.paths); err != nil {
		return err
	}
	caller := answer.Caller{Prefix: c.prefix, Allowed: handler.Permits(c.r)}
	limit := min(batchAnswer, batchMemory/len(p.items))
	run := batch.Runner{Begin: batchBegin, Grace: batchGrace, Do: func(ctx context.Context, g batch.Group) batch.Result {
		change := p.changes[g.ID]
		to, dialect := h.supply(c.edition, change.match.Operation, c.handler(), c.dialects[change.match.Operation])
		got := h.alone(ctx, to, c.r, change.up, change.match.Answer(change.up, caller), dialect, limit)
		if got.Cut {
			got.Body = nil
		}
		return batch.Result{Status: got.Status, Body: got.Body}
	}}
	answer := batch.NewAnswer(p.items, p.groups, run.Run(c.r.Context(), p.groups))
	media := "application/json"
	if c.choice.MediaType != "" {
		media = c.choice.MediaType
	}
	w.Header().Set("Content-Type", media)
	w.WriteHeader(answer.Status())
	_ = answer.Write(w) // a client that has gone is not told; what was begun is done
	return nil
}

// plan checks everything that can be checked without the upstream.
func plan(c *call, m routes.Match, asked mapping.Asked) (p planned, refused *envelope.Refusal) {
	if refused := unconditional(asked); refused != nil {
		return p, refused
	}
	if refused := m.Operation.Requests.Accepts(asked.Header); refused != nil {
		return p, refused
	}
	config := m.Operation.Resource
	if p.items, refused = batch.Parse(asked.Body, batch.Config{Fields: config.Batch, Max: config.BatchMax}); refused != nil {
		return p, refused
	}
	p.groups, p.changes = batch.Groups(p.items), make(map[string]change)
	permits := handler.Permits(c.r)
	for _, g := range p.groups {
		item, ok := m.Item(g.ID)
		if !ok {
			return p, envelope.Invalid(batch.At(g.Items[0], "id"), "must be the id of a resource")
		}
		if permits != nil && !permits(http.MethodPatch, c.prefix+item.Address()) || c.forbiddenByPath(http.MethodPatch, item.Address()) {
			return p, &envelope.Refusal{Status: http.StatusForbidden, Message: "this resource may not be changed with this token", Field: batch.At(g.Items[0], "id")}
		}
		up, refused := one(c, item, g)
		if refused != nil && refused.Status == http.StatusNotFound { // not the batch is missing
			return p, envelope.Invalid(batch.At(g.Items[0], "id"), "must be the id of a resource")
		}
		if refused != nil {
			refused.Field = g.Item(refused.Field)
			return p, refused
		}
		aside(c, item, asked, &up)
		p.changes[g.ID] = change{item, up}
	}
	for _, item := range p.items {
		p.paths = append(p.paths, c.addresses(p.changes[item.ID].match.Address()))
	}
	return p, nil
}

// unconditional refuses what a batch cannot honour: there is no one representation that a
// condition could be about.
func unconditional(asked mapping.Asked) *envelope.Refusal {
	for _, name := range []string{"If-Match", "If-Unmodified-Since", "If-None-Match"} {
		if len(asked.Header[name]) > 0 {
			return envelope.Invalid(name, "must not be there: a batch cannot be conditional")
		}
	}
	query, err := url.ParseQuery(asked.RawQuery)
	if err != nil {
		return envelope.Refuse(http.StatusBadRequest, "the query cannot be read")
	}
	if len(query) > 0 {
		return envelope.Invalid(slices.Min(slices.Collect(maps.Keys(query))), "is not a parameter of this address")
	}
	return nil
}

// one makes the upstream's request of a group.
func one(c *call, item routes.Match, g batch.Group) (mapping.Upstream, *envelope.Refusal) {
	up, refused := c.upstream(item, mapping.Asked{Header: http.Header{"Content-Type": {"application/json"}}, Body: g.Body})
	if refused == nil && !item.Operation.Requests.ReadsBody() {
		up.Body, up.Replaced = g.Body, true
		up.Set.Set("Content-Type", "application/json")
	}
	return up, refused
}

// aside keeps from an item what belongs to the whole batch. An Idempotency-Key becomes one
// for each item: an upstream that honours the client's own would take the second change
// for the first one, again.
func aside(c *call, item routes.Match, asked mapping.Asked, up *mapping.Upstream) {
	for _, name := range []string{"If-Modified-Since", "If-Range", "Range", "Prefer", "Content-Digest", "Repr-Digest", "Content-Md5", "Digest"} {
		up.Set[name] = nil
	}
	key := asked.Header.Get("Idempotency-Key")
	if key == "" {
		up.Set["Idempotency-Key"] = nil
		return
	}
	client, subject := "", ""
	if access := handler.Caller(c.r); access != nil {
		client, subject = access.Client, access.Subject
	}
	sum := sha256.New()
	for _, part := range []string{"batch item", client, subject, key, c.choice.Prefix + item.Address()} {
		_, _ = sum.Write([]byte(base64.RawStdEncoding.EncodeToString([]byte(part)) + ".")) // the alphabet has no dot
	}
	derived := base64.RawURLEncoding.EncodeToString(sum.Sum(nil)[:24])
	if strings.HasPrefix(key, `"`) {
		derived = `"` + derived + `"`
	}
	up.Set.Set("Idempotency-Key", derived)
}
