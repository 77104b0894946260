package batch

import (
	"maps"
	"net/http"
	"net/url"
	"slices"

	"github.com/gatehouse/gatehouse/module/internal/httpx"
	"github.com/gatehouse/gatehouse/module/internal/rest/mapping"
	"github.com/gatehouse/gatehouse/module/internal/rest/operation"
	"github.com/gatehouse/gatehouse/module/internal/rest/routes"
	"github.com/gatehouse/gatehouse/module/rest/envelope"
	"github.com/gatehouse/gatehouse/module/rest/validate"
)

// change is one request to the API, checked and ready to be sent.
type change struct {
	match routes.Match
	up    mapping.Upstream
}

// plan is a batch of which nothing was sent yet.
type plan struct {
	items   []Item
	groups  []Group
	changes map[string]change // by the group's id
}

// paths returns the path of the resource that each item is about.
func (p *plan) paths() []string {
	all := make([]string, len(p.items))
	for i, item := range p.items {
		all[i] = p.changes[item.ID].match.Address()
	}
	return all
}

// newPlan checks all that can be checked without the API. forbidden says whether the client may
// not change the resource with a path.
func newPlan(c *operation.Call, forbidden func(path string) bool) (*plan, *envelope.Refusal) {
	if refused := checkUnconditional(c.Asked); refused != nil {
		return nil, refused
	}
	if refused := c.Match.Operation.Requests.Accepts(c.Asked.Header); refused != nil {
		return nil, refused
	}
	config := c.Match.Operation.Resource
	items, refused := Parse(c.Asked.Body, Config{Fields: config.Batch, Max: config.BatchMax})
	if refused != nil {
		return nil, refused
	}
	p, effort := &plan{items, Groups(items), make(map[string]change)}, validate.NewEffort()
	for _, g := range p.groups {
		item, ok := c.Match.Item(g.ID)
		if !ok {
			return nil, envelope.Invalid(At(g.Items[0], "id"), "must be the id of a resource")
		}
		path := item.Address()
		if forbidden(path) {
			return nil, &envelope.Refusal{Status: http.StatusForbidden, Message: "this resource may not be changed with this token", Field: At(g.Items[0], "id")}
		}
		up, refused := changeRequest(c, item, g, effort)
		if refused != nil && refused.Status == http.StatusNotFound { // not the batch is missing
			return nil, envelope.Invalid(At(g.Items[0], "id"), "must be the id of a resource")
		}
		if refused != nil {
			refused.Field = g.Item(refused.Field)
			return nil, refused
		}
		dropBatchFields(c, item, &up)
		p.changes[g.ID] = change{item, up}
	}
	return p, nil
}

// checkUnconditional refuses conditions and parameters: a batch changes several resources, so
// there is no single representation that a condition could be about.
func checkUnconditional(asked mapping.Asked) *envelope.Refusal {
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

// changeRequest returns the request to the API that makes a group's change.
func changeRequest(c *operation.Call, item routes.Match, g Group, effort *validate.Effort) (mapping.Upstream, *envelope.Refusal) {
	up, refused := c.Upstream(item, mapping.Asked{Header: http.Header{"Content-Type": {"application/json"}}, Body: g.Body, Effort: effort, Caller: c.Asked.Caller})
	if refused == nil && !item.Operation.Requests.ReadsBody() {
		up.Body, up.Replaced = g.Body, true
		up.Set.Set("Content-Type", "application/json")
	}
	return up, refused
}

// notOfItems are header fields of a batch that do not fit the changes of its items.
var notOfItems = slices.Concat(httpx.RangeFields, []string{"If-Modified-Since", "Prefer", "Content-Digest", "Repr-Digest", "Content-Md5", "Digest"})

// dropBatchFields keeps header fields that belong to the whole batch from the request for one
// item. An Idempotency-Key becomes one for each item: an API that honours the client's own would
// take the second change for a repetition of the first.
func dropBatchFields(c *operation.Call, item routes.Match, up *mapping.Upstream) {
	for _, name := range notOfItems {
		up.Set[name] = nil
	}
	up.Set[operation.KeyHeader] = nil
	if key := c.APIKey(item); key != "" {
		up.Set.Set(operation.KeyHeader, key)
	}
}
