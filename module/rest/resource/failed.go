package resource

import (
	"net/http"
	"slices"

	"github.com/gatehouse/gatehouse/module/internal/rest/splice"
)

// failurePlaces are where APIs say that a request failed although the status is one of
// success: first members that are false then, and behind them members that are there then.
var failurePlaces = []splice.Pointer{
	{"success"}, {"ok"},
	{"error"}, {"errors"}, {"errors", "0"}, {"errcode"}, {"errno"},
}

// falsePlaces is how many of failurePlaces are false when a request failed.
const falsePlaces = 2

// captures returns the places in an answer that are looked at: for a write the id of what was
// made and the signs of a failure, for one item the places that are empty where there is none.
// failures is the slot of the first of failurePlaces, -1 where they are not looked at.
func (o *Operation) captures() (places []splice.Pointer, failures int) {
	created, _ := o.Created()
	deleted, _ := o.Deleted()
	switch {
	case o.readsItem():
		return o.itemPlaces(), -1
	case o.Kind == Create && created != 0:
		return append([]splice.Pointer{o.shape.created}, failurePlaces...), 1
	case o.Kind == Delete && deleted != 0, o.plain() && o.Method != http.MethodGet:
		return failurePlaces, 0
	}
	return nil, -1
}

// Failed reports whether the answer to a write says that it is a failure. No convention
// applies to such an answer where none is declared: 201 or 204 would tell the client that all
// is well. e is the editor of the body, or one of Look; nil for a body that is no JSON, which
// says nothing.
func (a *Answer) Failed(e *splice.Editor) bool {
	o := a.match.Operation
	return e != nil && o != nil && o.failures >= 0 && saysFailed(e, o.failures)
}

// saysFailed is Failed for an editor that has the values of failurePlaces from the slot first on.
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
