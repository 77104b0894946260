package resource

import (
	"github.com/gatehouse/gatehouse/module/internal/rest/splice"
	"github.com/gatehouse/gatehouse/module/rest/envelope"
)

// readsItem reports whether the operation reads one item of a collection, so that nothing in
// the place of the item means that there is none. A document of its own may be empty.
func (o *Operation) readsItem() bool {
	return o.Kind == Read && o.plain() && o.pattern.Segments[len(o.pattern.Segments)-1].Param
}

// itemPlaces are the place of the item in an answer, and all that it is in: of an item that is
// not there, some APIs empty what is around it.
func (o *Operation) itemPlaces() (places []splice.Pointer) {
	at := o.shape.itemAt[o.Kind]
	for n := range len(at) + 1 {
		places = append(places, at[:n])
	}
	return places
}

// Nothing reports whether the answer has null, false, `[]` or `{}` where the item that was
// asked for would be: there is no such item. e is the editor of the body.
func (a *Answer) Nothing(e *splice.Editor) bool {
	o := a.match.Operation
	if e == nil || o == nil || !o.readsItem() {
		return false
	}
	for i := range len(o.shape.itemAt[o.Kind]) + 1 { // the slots of itemPlaces
		if s := e.Captured(i); s.Kind != splice.String && envelope.IsEmpty(s) {
			return true
		}
	}
	return false
}

// Readable reports whether what the request makes can be read at its address.
func (a *Answer) Readable() bool { return a.match.Operation != nil && a.match.Operation.Readable() }

// MadeUnreadable reports whether an address of the client's is the one of what the request
// made, and nobody can read it there.
func (a *Answer) MadeUnreadable(at string) bool {
	if a.Kind != Create || a.match.Operation == nil || a.Readable() {
		return false
	}
	status, _ := a.match.Operation.Created()
	return status != 0 && a.below(at)
}

// Readable reports whether one item of the resource can be read at its address.
func (o *Operation) Readable() bool { return o.shape.readable }
