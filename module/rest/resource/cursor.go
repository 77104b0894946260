package resource

import (
	"encoding/json"
	"net/url"

	"github.com/gatehouse/gatehouse/module/internal/rest/splice"
	"github.com/gatehouse/gatehouse/module/rest/envelope"
	"github.com/gatehouse/gatehouse/module/rest/list"
)

// ByCursor reports whether the operation is a list that clients read by cursors, so that
// Asked needs a Sealer.
func (o *Operation) ByCursor() bool { return o.Kind == List && o.Resource.List.ByCursor() }

// ByCursor reports whether the answer is a page with a cursor in its Link.
func (a *Answer) ByCursor() bool { return a.List != nil && a.sealer != nil }

// bound is what a cursor of the list belongs to: the list, of these parents, as it is declared,
// and the client's other parameters. A cursor is of no use elsewhere.
func (m Match) bound(q *list.Query, asked url.Values) []byte {
	parts := []string{m.Operation.Path, m.Operation.method, m.Operation.template.Text, q.Bound(asked)}
	if m.Operation.placed != nil {
		for _, member := range m.Operation.placed.Members() {
			parts = append(parts, member.Name, member.Value)
		}
	}
	for _, c := range m.Operation.Resource.List.Cursors {
		parts = append(parts, c.Parameter, c.Pointer)
	}
	bound, _ := json.Marshal(append(parts, m.Values...)) // texts always encode
	return bound
}

// seek goes to the page of the client's cursor.
func (m Match) seek(up *Upstream, a Asked, asked url.Values) *envelope.Refusal {
	if !m.Operation.ByCursor() || a.Sealer == nil {
		return nil
	}
	bound := m.bound(up.List, asked)
	up.sealer, up.bound = a.Sealer, bound
	return up.List.Seek(a.Sealer, bound)
}

// Continue notes where the next page of a list is, when its header or its end is written. e is
// the editor of the body; whole says that it has seen all of it.
func (a *Answer) Continue(e *splice.Editor, whole bool) error {
	if a.List == nil || a.sealer == nil {
		return nil
	}
	values := make([]splice.Scalar, 0, len(a.match.Operation.Resource.List.Cursors))
	for i := range a.match.Operation.Resource.List.Cursors {
		s := e.Captured(a.match.Operation.shape.cursorSlot() + i)
		if s.Kind == splice.Absent && !s.Long && !whole {
			return nil // it may still come
		}
		values = append(values, s)
	}
	return a.List.Continue(values, a.sealer, a.bound)
}

// cursorSlot is the first of the captured values that are cursors.
func (s *shape) cursorSlot() int {
	if len(s.total) > 0 {
		return 1
	}
	return 0
}

// listCaptures are the places in the answer to a list that are captured.
func (s *shape) listCaptures() (places []splice.Pointer) {
	if len(s.total) > 0 {
		places = append(places, s.total)
	}
	for _, c := range s.config.List.Cursors {
		at, _ := splice.ParsePointer(c.Pointer) // checked
		places = append(places, at)
	}
	if complete := s.config.List.Complete; complete != nil {
		at, _ := splice.ParsePointer(complete.Pointer) // checked
		places = append(places, at)
	}
	return places
}

// emptyList is an answer of the upstream's with a list that has no elements.
func (s *shape) emptyList() []byte {
	var v any = []any{}
	for i := len(s.items) - 1; i >= 0; i-- {
		v = map[string]any{s.items[i]: v}
	}
	body, _ := json.Marshal(v) // texts always encode
	return body
}
