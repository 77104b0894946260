package answer

import (
	"github.com/gatehouse/gatehouse/module/internal/rest/splice"
	"github.com/gatehouse/gatehouse/module/rest/list"
	"github.com/gatehouse/gatehouse/module/rest/resource"
)

// Portion is what one answer of the upstream adds to a list that it gives in several answers.
type Portion struct {
	// Elements counts the elements that came, Bytes the bytes that were read for them.
	Elements, Bytes int64
	// Next are the upstream's parameters for more of the list; nil at its end.
	Next map[string]string
	// Complete says that this is the end of the list.
	Complete bool
	// Err says what is wrong with the upstream's cursor.
	Err error

	skip, take int
}

// NewPortion returns what becomes of one of the answers that make up a list: an array of the elements from
// skip on, at most take of them, none for 0. The portion is filled in when the answer has been read.
func (sp *Spec) NewPortion(values []string, c Caller, skip, take int) (*Answer, *Portion) {
	p := &Portion{skip: skip, take: take}
	if take == 0 {
		p.skip, p.take = list.Reach, 1 // no answer has so many elements
	}
	return &Answer{Kind: resource.List, Plan: sp.plan, spec: sp, values: values, caller: c, createdAt: -1, portion: p}, p
}

// CompletePortion fills in the portion, if the answer is one, when it has been read to its end.
func (a *Answer) CompletePortion(e *splice.Editor) {
	p := a.portion
	if p == nil {
		return
	}
	p.Elements, p.Bytes = e.Elements(), e.Read()
	if p.Complete = a.complete(e); !p.Complete || a.spec.resource().List.Complete == nil {
		p.Next, p.Err = a.spec.resource().List.Next(a.cursors(e))
	}
}

// cursors returns the values of the declared cursors.
func (a *Answer) cursors(e *splice.Editor) (values []splice.Scalar) {
	for i := range a.spec.resource().List.Cursors {
		values = append(values, e.Captured(a.spec.Shape.cursorSlot()+i))
	}
	return values
}
