package answer

import (
	"encoding/json"

	"github.com/gatehouse/gatehouse/module/internal/rest/splice"
)

// ByCursor reports whether the answer is a page of a list that clients page through with cursors.
func (a *Answer) ByCursor() bool { return a.List != nil && a.sealer != nil }

// SetNextCursor notes where the next page of a list is, when its header or its end is written. e is the
// editor of the body; whole says that it has seen all of it.
func (a *Answer) SetNextCursor(e *splice.Editor, whole bool) error {
	if a.List == nil || a.sealer == nil {
		return nil
	}
	values := make([]splice.Scalar, 0, len(a.spec.resource().List.Cursors))
	for i := range a.spec.resource().List.Cursors {
		s := e.Captured(a.spec.Shape.cursorSlot() + i)
		if s.Kind == splice.Absent && !s.Long && !whole {
			return nil // it may still come
		}
		values = append(values, s)
	}
	return a.List.Continue(values, a.sealer, a.bound)
}

// cursorSlot returns the slot of the first captured cursor.
func (s *Shape) cursorSlot() int {
	if len(s.total) > 0 {
		return 1
	}
	return 0
}

// listCaptures returns the places in the answer to a list that are captured.
func (s *Shape) listCaptures() (places []splice.Pointer) {
	if len(s.total) > 0 {
		places = append(places, s.total)
	}
	for _, c := range s.Resource.List.Cursors {
		at, _ := splice.ParsePointer(c.Pointer) // checked
		places = append(places, at)
	}
	if complete := s.Resource.List.Complete; complete != nil {
		at, _ := splice.ParsePointer(complete.Pointer) // checked
		places = append(places, at)
	}
	return places
}

// EmptyList returns an answer of the upstream with a list that has no elements.
func (s *Shape) EmptyList() []byte {
	var v any = []any{}
	for i := len(s.items) - 1; i >= 0; i-- {
		v = map[string]any{s.items[i]: v}
	}
	body, _ := json.Marshal(v) // texts always encode
	return body
}
