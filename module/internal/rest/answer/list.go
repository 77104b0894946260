package answer

import (
	"encoding/json"
	"net/http"

	"github.com/gatehouse/gatehouse/module/internal/rest/splice"
	"github.com/gatehouse/gatehouse/module/rest/list"
)

// listCaptures returns the captured places in the answer to a list: the total, the cursors, and the condition of a
// complete list.
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

// cursorSlot returns the slot of the first cursor.
func (s *Shape) cursorSlot() int {
	if len(s.total) > 0 {
		return 1
	}
	return 0
}

// Total returns the number of all elements of a list, nil if it is not known. e is the editor of the body; whole says
// that it has read all of it.
func (a *Answer) Total(e *splice.Editor, h http.Header, whole bool) *int64 {
	switch l := a.resource().List; {
	case a.listLike != nil:
		return listLikeTotal(e, h)
	case l.TotalHeader != "":
		return l.HeaderTotal(h)
	case len(a.Shape.total) > 0:
		return firstNumber(e, 0, 1)
	case whole && l.Local() && a.complete(e):
		n := e.Elements()
		return &n
	}
	return nil
}

// complete reports whether no declared condition says that the list has more elements than came, cursors aside.
func (a *Answer) complete(e *splice.Editor) bool {
	l := a.resource().List
	return l.Complete == nil || l.Complete.Holds(e.Captured(a.Shape.cursorSlot()+len(l.Cursors)))
}

// Seen returns what is known of a list when its header is sent.
func (a *Answer) Seen(e *splice.Editor, h http.Header, whole bool) list.Seen {
	s := list.Seen{Total: a.Total(e, h, whole), Elements: -1}
	if whole {
		s.Elements = e.Elements()
	}
	return s
}

// CompletePage completes the page of a list after its last element.
func (a *Answer) CompletePage(e *splice.Editor, h http.Header) {
	a.exceeded = a.List.Exceeded(e.Elements())
	if a.listLike != nil {
		a.List.Fit(firstNumber(e, len(totalNames), len(limitNames)), listLikeTotal(e, h), e.Elements())
	} else if l := a.resource().List; l.Local() && l.Complete == nil && l.Total+l.TotalHeader == "" && list.IsRound(e.Elements()) {
		a.cutAt = e.Elements()
	}
}

// Exceeded reports whether the upstream gave more elements of a list than it was asked for, and of which resource. It
// is known after the answer was translated.
func (a *Answer) Exceeded() (path string, ok bool) { return a.resource().Path, a.exceeded }

// MayBeCut reports whether a list that is assumed to be complete has a length at which APIs cut lists, and nothing
// declared tells whether it was cut. It is known after the answer was translated.
func (a *Answer) MayBeCut() (path string, elements int64, ok bool) {
	return a.resource().Path, a.cutAt, a.cutAt != 0
}

// HasPageLinks reports whether links to other pages can be given. e is the editor of the body.
func (a *Answer) HasPageLinks(e *splice.Editor, h http.Header) bool {
	return a.listLike == nil || a.List.Linked(listLikeTotal(e, h), e.Elements()) && !(a.ownPages() && relatesPages(h))
}

// ByCursor reports whether the answer is a page of a list that clients page through with cursors.
func (a *Answer) ByCursor() bool { return a.List != nil && a.Sealer != nil }

// SetNextCursor seals the cursor of the next page, when the header or the end of a list is written. e is the editor
// of the body; whole says that it has read all of it.
func (a *Answer) SetNextCursor(e *splice.Editor, whole bool) error {
	if !a.ByCursor() {
		return nil
	}
	values := a.cursors(e)
	for _, s := range values {
		if s.Kind == splice.Absent && !s.Long && !whole {
			return nil // it may still come
		}
	}
	return a.List.Continue(values, a.Sealer, a.Bound)
}

// cursors returns the values of the declared cursors.
func (a *Answer) cursors(e *splice.Editor) (values []splice.Scalar) {
	for i := range a.resource().List.Cursors {
		values = append(values, e.Captured(a.Shape.cursorSlot()+i))
	}
	return values
}

// EmptyList returns an upstream's answer with a list without elements.
func (s *Shape) EmptyList() []byte {
	var v any = []any{}
	for i := len(s.items) - 1; i >= 0; i-- {
		v = map[string]any{s.items[i]: v}
	}
	body, _ := json.Marshal(v) // strings always encode
	return body
}

// Portion is what one answer contributes to a list that the upstream gives in several answers.
type Portion struct {
	// Elements counts the elements that came, Bytes the bytes that were read for them.
	Elements, Bytes int64
	// Next has the upstream's parameters for the next portion; nil after the last.
	Next map[string]string
	// Complete says that the list ends here.
	Complete bool
	// Err says what is wrong with the upstream's cursor.
	Err error

	skip, take int
}

// NewPortion returns an answer that becomes an array of its elements from skip on, at most take of them (none for 0),
// and the portion, which is set after the answer was read.
func (sp *Spec) NewPortion(values []string, c Caller, skip, take int) (*Answer, *Portion) {
	p := &Portion{skip: skip, take: take}
	if take == 0 {
		p.skip, p.take = list.Reach, 1 // no answer has so many elements
	}
	return &Answer{Spec: sp, Request: Request{Values: values}, Caller: c, Plan: sp.plan, portion: p}, p
}

// CompletePortion sets the portion, if the answer is one, after its last byte.
func (a *Answer) CompletePortion(e *splice.Editor) {
	p := a.portion
	if p == nil {
		return
	}
	l := a.resource().List
	p.Elements, p.Bytes = e.Elements(), e.Read()
	if p.Complete = a.complete(e); !p.Complete || l.Complete == nil {
		p.Next, p.Err = l.Next(a.cursors(e))
	}
}
