package routes

import (
	"net/http"
	"slices"

	"github.com/gatehouse/gatehouse/module/rest/resource"
)

// CheckIdle returns a *resource.IdleError for the first word without effect, of the resource with this
// path or, for "", of any. It must be called when everything has been declared. refusesNonJSON says that a
// condition on all answers makes failures of those that are not JSON.
func (t *Table) CheckIdle(path string, refusesNonJSON bool) error {
	for _, c := range t.resources {
		if path != "" && c.config.Path != path {
			continue
		}
		if err := c.checkIdle(refusesNonJSON); err != nil {
			return err
		}
	}
	return nil
}

// has reports whether the resource has an operation of one of these kinds.
func (c *compiled) has(kinds ...resource.Kind) bool {
	return slices.ContainsFunc(c.operations, func(o *Operation) bool { return slices.Contains(kinds, o.Kind) })
}

// checkIdle returns the first word of the resource without effect, nil if all have one.
func (c *compiled) checkIdle(refusesNonJSON bool) *resource.IdleError {
	if err := c.checkIdleWords(refusesNonJSON); err != nil {
		return err
	}
	r := c.config
	for _, f := range r.FailWhen {
		if f.On != "" && !c.has(f.On) {
			return &resource.IdleError{Resource: r.Path, Word: "fail_when", Part: string(f.On), Why: operationFor[f.On]}
		}
	}
	for _, f := range r.Fixed {
		if err := c.checkIdleFixed(f); err != nil {
			return err
		}
	}
	for _, o := range c.operations {
		if err := o.Requests.CheckIdle(); err != nil {
			return err
		}
	}
	if r.List != nil {
		if part, why := r.List.Idle(); part != "" {
			return &resource.IdleError{Resource: r.Path, Word: "list", Part: part, Why: why}
		}
	}
	return nil
}

// checkIdleWords returns the first word that needs operations or declarations that the resource lacks.
func (c *compiled) checkIdleWords(refusesNonJSON bool) *resource.IdleError {
	const upstream = "expected an upstream for "
	r := c.config
	any := func(is func(*Operation) bool) bool { return slices.ContainsFunc(c.operations, is) }
	body := c.has(resource.Create, resource.Replace, resource.Update, resource.Action, resource.Batch)
	resourceInAnswer := c.has(resource.List, resource.Read, resource.Create, resource.Replace, resource.Update, resource.Action)
	for _, w := range []struct {
		name           string
		given, effects bool
		why            string
	}{
		{"replace", len(r.Replace) > 0, c.has(resource.Replace), upstream + "PUT of an item"},
		{"created", r.Created != nil, c.has(resource.Create), upstream + "POST of the collection"},
		{"created", r.Created != nil && r.Created.ID != "", c.shape.Readable, upstream + "GET of an item, whose address Location gives, or `created 201` without a pointer"},
		{"deleted", r.Deleted != 0, c.has(resource.Delete), upstream + "DELETE of an item"},
		{"idempotency", r.Idempotency, c.has(resource.Create, resource.Action), upstream + "POST"},
		{"validate", len(r.Validate) > 0, body, upstream + "POST, PUT or PATCH"},
		{"schema", r.Schema != nil, body, upstream + "POST, PUT or PATCH"},
		{"wrap", r.Wrap != "", body, upstream + "POST, PUT or PATCH"},
		{"drop", len(r.Drop) > 0, resourceInAnswer, upstream + "GET, POST, PUT or PATCH"},
		{"etag", r.ETag, any(func(o *Operation) bool { return o.Method == http.MethodGet }), upstream + "GET"},
		{"pass", len(r.Pass) > 0 && !refusesNonJSON && !r.RefusesNonJSON(), any(func(o *Operation) bool { return o.Answers.Declares() }),
			"expected item, list, rename, drop, values or links to say what is in an answer; without them everything passes"},
	} {
		if w.given && !w.effects {
			return &resource.IdleError{Resource: r.Path, Word: w.name, Why: w.why}
		}
	}
	return nil
}

// checkIdleFixed finds a parameter that is sent with no operation, or with none of a kind that it names:
// one in the body needs a body.
func (c *compiled) checkIdleFixed(f resource.Fixed) *resource.IdleError {
	idle := func(part, why string) *resource.IdleError {
		return &resource.IdleError{Resource: c.config.Path, Word: "send", Part: "fixed " + f.Name + part, Why: why}
	}
	sent := func(kind resource.Kind) bool {
		return slices.ContainsFunc(c.operations, func(o *Operation) bool { return (kind == "" || o.Kind == kind) && o.Requests.Sends(f.Param()) })
	}
	if len(f.Operations) == 0 && !sent("") {
		return idle("", "expected an upstream for what it goes with, with a body where it is part of that")
	}
	for _, k := range f.Operations {
		switch {
		case !c.has(k):
			return idle(" of "+string(k), operationFor[k])
		case !sent(k) && (k == resource.List || k == resource.Read):
			return idle(" of "+string(k), "a GET has no body, expected another place than body")
		case !sent(k):
			return idle(" of "+string(k), "expected a body, such as `as form` in its upstream, or another place than body")
		}
	}
	return nil
}

// operationFor says what a word about one kind of operation needs.
var operationFor = map[resource.Kind]string{
	resource.List: "expected `list { ... }` and an upstream for GET of the collection", resource.Read: "expected an upstream for GET of an item",
	resource.Create: "expected an upstream for POST of the collection", resource.Replace: "expected an upstream for PUT of an item",
	resource.Update: "expected an upstream for PATCH of an item", resource.Delete: "expected an upstream for DELETE of an item",
	resource.Action: "expected an upstream for POST below an item",
}
