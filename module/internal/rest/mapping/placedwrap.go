package mapping

import (
	"fmt"
	"slices"

	"github.com/gatehouse/gatehouse/module/rest/resource"
	"github.com/gatehouse/gatehouse/module/rest/supply"
	"github.com/gatehouse/gatehouse/module/rest/validate"
)

// ownNames returns the names that clients cannot send because the gateway places members: those on the outermost
// level, and those beside the client's members below `wrap`.
func (m *Mapping) ownNames() []string {
	return slices.Concat(m.placed.Names(), m.placed.Below(m.Resource.Wrap))
}

// checkBelowWrap allows members in the object that `wrap` puts the client's members into, by pointers such as
// /arguments/ids. It refuses anything else in the place of that object, and parameters of clients with such a name.
func checkBelowWrap(m *Mapping) error {
	r := m.Resource
	if r.Wrap == "" {
		return nil
	}
	below := m.placed.Below(r.Wrap)
	for _, name := range m.placed.Names() {
		if supply.Names(nil).With(name).Has(r.Wrap) && (name != r.Wrap || len(below) == 0) {
			return fmt.Errorf("as %s: `wrap` already sends %s, expected a pointer below it such as /%s/id, or another name", m.Route.As, r.Wrap, r.Wrap)
		}
	}
	if m.Kind == resource.List {
		return nil
	}
	names := supply.Names(nil).With(below...)
	for _, n := range r.Query {
		if names.Has(n.Name) {
			return fmt.Errorf("as %s: `query` already sends %s, expected one of the two or another name", m.Route.As, n.Name)
		}
	}
	return nil
}

// placedWith returns the client's members, inside wrap if it is set, followed by those that the gateway places. Those
// that it places below wrap go into the same object.
func (m members) placedWith(placed members, wrap string) members {
	at := -1
	if wrap != "" {
		at = slices.IndexFunc(placed, func(p validate.Member) bool { return p.Name == wrap })
	}
	if at < 0 {
		return append(m.wrapped(wrap), placed...)
	}
	inside, _ := validate.Parse(placed[at].Value) // checkBelowWrap knows that it is an object
	return append(append(m, inside...).wrapped(wrap), slices.Delete(placed, at, at+1)...)
}
