package answer

import (
	"github.com/gatehouse/gatehouse/module/internal/rest/splice"
	"github.com/gatehouse/gatehouse/module/rest/envelope"
	"github.com/gatehouse/gatehouse/module/rest/resource"
)

// readsItem reports whether the operation reads one item of a collection, so that nothing in its place
// means that it does not exist. A document by itself may be empty.
func (sp *Spec) readsItem() bool {
	return sp.Kind == resource.Read && sp.changes() && sp.Pattern.EndsInPlaceholder()
}

// itemPlaces returns the place of the item in an answer, and those of the values around it: for an item
// that does not exist, some APIs empty what is around it.
func (sp *Spec) itemPlaces() (places []splice.Pointer) {
	at := sp.Shape.itemAt[sp.Kind]
	for n := range len(at) + 1 {
		places = append(places, at[:n])
	}
	return places
}

// HasNoItem reports whether the answer has null, false, `[]` or `{}` in the place of the item: there is no
// such item. e is the editor of the body.
func (a *Answer) HasNoItem(e *splice.Editor) bool {
	sp := a.spec
	if e == nil || sp == nil || !sp.readsItem() {
		return false
	}
	for i := range len(sp.Shape.itemAt[sp.Kind]) + 1 { // the slots of itemPlaces
		if s := e.Captured(i); s.Kind != splice.String && envelope.IsEmpty(s) {
			return true
		}
	}
	return false
}
