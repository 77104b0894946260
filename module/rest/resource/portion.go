package resource

import (
	"github.com/gatehouse/gatehouse/module/internal/rest/splice"
	"github.com/gatehouse/gatehouse/module/rest/list"
)

// Follows reports whether the operation is a list whose pages are cut out of several answers
// of the upstream.
func (o *Operation) Follows() bool { return o.Kind == List && o.Resource.List.Follows() }

// Portion is what one answer of the upstream's adds to a list that is followed.
type Portion struct {
	// Elements are those that came, Bytes those that were read for them.
	Elements, Bytes int64
	// Next are the upstream's parameters for more of the list; nil at its end.
	Next map[string]string
	// Complete says that nothing is missing at this end.
	Complete bool
	// Err says what is wrong with the upstream's cursor.
	Err error

	skip, take int
}

// Portion is what becomes of one answer to a list that is followed: an array of the elements
// from skip on, take of them at most, none for 0. The portion is filled in when it was read.
func (m Match) Portion(c Caller, skip, take int) (*Answer, *Portion) {
	p := &Portion{skip: skip, take: take}
	if take == 0 {
		p.skip, p.take = list.Reach, 1 // no answer is so long
	}
	return &Answer{Kind: List, Plan: m.Operation.plan, createdAt: -1, match: m, caller: c, portion: p}, p
}

// Ended takes note of an answer that was read to its end.
func (a *Answer) Ended(e *splice.Editor) {
	p := a.portion
	if p == nil {
		return
	}
	p.Elements, p.Bytes = e.Elements(), e.Read()
	if p.Complete = a.complete(e); !p.Complete || a.match.Operation.Resource.List.Complete == nil {
		p.Next, p.Err = a.match.Operation.Resource.List.Next(a.cursors(e))
	}
}

// cursors are the values of the declared cursors.
func (a *Answer) cursors(e *splice.Editor) (values []splice.Scalar) {
	for i := range a.match.Operation.Resource.List.Cursors {
		values = append(values, e.Captured(a.match.Operation.shape.cursorSlot()+i))
	}
	return values
}

// complete reports whether nothing says that a list which is taken for whole is not. Whether
// there is a cursor is another matter.
func (a *Answer) complete(e *splice.Editor) bool {
	l, s := a.match.Operation.Resource.List, a.match.Operation.shape
	return l.Complete == nil || l.Complete.Holds(e.Captured(s.cursorSlot()+len(l.Cursors)))
}

// MayBeCut reports whether a list that is taken for whole has a length at which APIs cut lists,
// and nothing declared tells whether it was. It is known when the answer was translated.
func (a *Answer) MayBeCut() (path string, elements int64, ok bool) {
	if a.cutAt == 0 {
		return "", 0, false
	}
	return a.match.Operation.Resource.Path, a.cutAt, true
}
