package answer

import (
	"net/http"
	"slices"

	"github.com/gatehouse/gatehouse/module/internal/rest/splice"
	"github.com/gatehouse/gatehouse/module/rest/envelope"
	"github.com/gatehouse/gatehouse/module/rest/resource"
)

// failurePlaces are where APIs report that a request failed despite a success status: first members that are
// false in this case, followed by members that exist only then.
var failurePlaces = []splice.Pointer{
	{"success"}, {"ok"},
	{"error"}, {"errors"}, {"errors", "0"}, {"errcode"}, {"errno"},
}

// falsePlaces is how many of failurePlaces are false when a request failed.
const falsePlaces = 2

// captures returns the captured places: for a write, the ID of the new item and the signs of a failure; for one item,
// the places that are empty if it does not exist. failures is the slot of the first of failurePlaces, or -1 if they
// are not captured.
func (sp *Spec) captures() (places []splice.Pointer, failures int) {
	created, _ := sp.resource().CreatedStatus()
	deleted, _ := sp.resource().DeletedStatus()
	switch {
	case sp.readsItem():
		at := sp.Shape.itemAt[sp.Kind]
		for n := range len(at) + 1 { // for an item that does not exist, some APIs leave an outer member empty
			places = append(places, at[:n])
		}
		return places, -1
	case sp.Kind == resource.Create && created != 0:
		return append([]splice.Pointer{sp.Shape.created}, failurePlaces...), 1
	case sp.Kind == resource.Delete && deleted != 0, sp.changes() && sp.Method != http.MethodGet:
		return failurePlaces, 0
	}
	return nil, -1
}

// Failed reports whether the answer to a write says that the write failed. Such an answer keeps its status unless
// one is declared: 201 or 204 would report a success. e is the editor of the body, or one of LookPlan; nil for a
// body that is not JSON, which says nothing.
func (a *Answer) Failed(e *splice.Editor) bool {
	return e != nil && a.failures >= 0 && saysFailed(e, a.failures)
}

// saysFailed reports whether an editor with failurePlaces in the slots from first on has captured a failure.
func saysFailed(e *splice.Editor, first int) bool {
	for i := range failurePlaces {
		s := e.Captured(first + i)
		no := s.Kind == splice.Null || slices.Contains([]string{"", "0", "false"}, s.Text)
		switch {
		case s.Kind == splice.Absent && !s.Long:
		case i < falsePlaces:
			if scalar := s.Kind == splice.Bool || s.Kind == splice.Number || s.Kind == splice.String; scalar && s.Text != "" && no {
				return true
			}
		case s.Kind == splice.Array: // its first element tells whether it is empty
		case s.Long || s.Kind == splice.Object || !no:
			return true
		}
	}
	return false
}

// readsItem reports whether the operation reads an item of a collection, so that an empty place means that it does
// not exist. A document that is not an item may be empty.
func (sp *Spec) readsItem() bool {
	return sp.Kind == resource.Read && sp.changes() && sp.Pattern.EndsInPlaceholder()
}

// HasNoItem reports whether the answer has null, false, `[]` or `{}` where the item should be, so that the item
// does not exist. e is the editor of the body.
func (a *Answer) HasNoItem(e *splice.Editor) bool {
	if e == nil || !a.readsItem() {
		return false
	}
	for i := range len(a.Shape.itemAt[a.Kind]) + 1 { // the slots of captures
		if s := e.Captured(i); s.Kind != splice.String && envelope.IsEmpty(s) {
			return true
		}
	}
	return false
}
