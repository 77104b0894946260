package resource

import (
	"fmt"
	"net/http"
	"slices"
	"strings"

	"github.com/gatehouse/gatehouse/module/rest/supply"
)

// IdleError is about a word of a resource that would do nothing. Whoever wrote it counts on
// it, so it is an error.
type IdleError struct {
	Resource, Word string // of several upstreams the word is with method and path: `upstream GET /things`
	Part           string // of what the word has in its block; may be empty
	why            string
}

func (e *IdleError) Error() string {
	word := e.Word
	if e.Part != "" {
		word += ": " + e.Part
	}
	return fmt.Sprintf("resource %s: %s does nothing here: %s", e.Resource, word, e.why)
}

// CheckIdle returns an *IdleError for the first word that does nothing, of the resource with
// this path or, for "", of any. It can be asked when everything has been declared. asksForJSON
// says that a condition about all answers refuses what is not JSON.
func (t *Table) CheckIdle(path string, asksForJSON bool) error {
	seen := make(map[*shape]bool)
	for _, o := range t.operations {
		if s := o.shape; !seen[s] && (path == "" || s.config.Path == path) {
			if e := s.idle(t.operations, asksForJSON); e != nil {
				return e
			}
			seen[s] = true
		}
	}
	return nil
}

// idle is about the first word of the resource that does nothing; nil for none.
func (s *shape) idle(all []*Operation, asksForJSON bool) *IdleError {
	r := s.config
	some := func(is func(*Operation) bool) bool {
		return slices.ContainsFunc(all, func(o *Operation) bool { return o.shape == s && is(o) })
	}
	has := func(kinds ...Kind) bool {
		return some(func(o *Operation) bool { return slices.Contains(kinds, o.Kind) })
	}
	const upstream = "expected an upstream for "
	body := has(Create, Replace, Update, Action, Batch)
	for _, w := range []struct {
		name        string
		said, works bool
		why         string
	}{
		{"replace", len(r.Replace) > 0, has(Replace), upstream + "PUT of an item"},
		{"created", r.Created != nil, has(Create), upstream + "POST of the collection"},
		{"created", r.Created != nil && r.Created.ID != "", s.readable, upstream + "GET of an item, whose address Location gives, or `created 201` without a pointer"},
		{"deleted", r.Deleted != 0, has(Delete), upstream + "DELETE of an item"},
		{"idempotency", r.Idempotency, has(Create, Action), upstream + "POST"},
		{"validate", len(r.Validate) > 0, body, upstream + "POST, PUT or PATCH"},
		{"schema", r.Schema != nil, body, upstream + "POST, PUT or PATCH"},
		{"wrap", r.Wrap != "", body, upstream + "POST, PUT or PATCH"},
		{"drop", len(r.Drop) > 0, has(List, Read, Create, Replace, Update, Action), upstream + "GET, POST, PUT or PATCH"},
		{"etag", r.ETag, some(func(o *Operation) bool { return o.Method == http.MethodGet }), upstream + "GET"},
		{"pass", len(r.Pass) > 0, some((*Operation).declares), "expected item, list, rename, drop, values or links to say what is in an answer; without them everything passes"},
	} {
		if w.name == "pass" && (asksForJSON || r.asksForJSON()) {
			continue
		}
		if w.said && !w.works {
			return &IdleError{r.Path, w.name, "", w.why}
		}
	}
	for _, f := range r.FailWhen {
		if f.On != "" && !has(f.On) {
			return &IdleError{r.Path, "fail_when", string(f.On), operationFor[f.On]}
		}
	}
	for _, f := range r.Fixed {
		if err := r.checkIdleFixed(f, has, some); err != nil {
			return err
		}
	}
	for _, o := range all {
		if o.shape == s && o.placed != nil {
			if err := s.idlePlaced(o); err != nil {
				return err
			}
		}
		if o.shape == s && o.call != nil {
			if err := s.idleCall(o); err != nil {
				return err
			}
		}
	}
	if r.List != nil {
		if part, why := r.List.Idle(); part != "" {
			return &IdleError{r.Path, "list", part, why}
		}
	}
	return nil
}

// checkIdleFixed finds a parameter that goes with nothing, or with nothing of a kind that it
// names: one in the body needs a body.
func (r *Resource) checkIdleFixed(f Fixed, has func(...Kind) bool, some func(func(*Operation) bool) bool) *IdleError {
	goes := func(o *Operation) bool { return f.place() != supply.Body || o.setsBody(f.Param()) }
	if len(f.Operations) == 0 && !some(goes) {
		return &IdleError{r.Path, "send", "fixed " + f.Name, "expected an upstream for what it goes with, with a body where it is part of that"}
	}
	for _, k := range f.Operations {
		switch {
		case !has(k):
			return &IdleError{r.Path, "send", "fixed " + f.Name + " of " + string(k), operationFor[k]}
		case !some(func(o *Operation) bool { return o.Kind == k && goes(o) }) && (k == List || k == Read):
			return &IdleError{r.Path, "send", "fixed " + f.Name + " of " + string(k), "a GET has no body, expected another place than body"}
		case !some(func(o *Operation) bool { return o.Kind == k && goes(o) }):
			return &IdleError{r.Path, "send", "fixed " + f.Name + " of " + string(k), "expected a body, such as `as form` in its upstream, or another place than body"}
		}
	}
	return nil
}

// declares reports that something is declared of what is in the operation's answers.
func (o *Operation) declares() bool { return o.plan != nil && (o.Kind == List || o.unwraps()) }

// isPointer reports that a JSON Pointer stands where the name of a member is expected.
func isPointer(theirs string) bool { return strings.HasPrefix(theirs, "/") }

// operationFor says what a word about one kind of operation needs.
var operationFor = map[Kind]string{
	List: "expected `list { ... }` and an upstream for GET of the collection", Read: "expected an upstream for GET of an item",
	Create: "expected an upstream for POST of the collection", Replace: "expected an upstream for PUT of an item",
	Update: "expected an upstream for PATCH of an item", Delete: "expected an upstream for DELETE of an item",
	Action: "expected an upstream for POST below an item",
}

// asksForJSON reports whether a condition of the resource's own refuses what is not JSON.
func (r *Resource) asksForJSON() bool {
	return slices.ContainsFunc(r.FailWhen, func(f FailWhen) bool { return f.NotJSON })
}
