package mapping

import (
	"fmt"
	"slices"

	"github.com/gatehouse/gatehouse/module/rest/resource"
	"github.com/gatehouse/gatehouse/module/rest/validate"
)

// ownNames are the names that clients cannot send with an operation that places members: those on
// the outermost level, and those that stand beside the client's members below `wrap`.
func (m *Mapping) ownNames() []string {
	return slices.Concat(m.placed.Names(), m.placed.Below(m.Resource.Wrap))
}

// checkBelowWrap lets members be placed in the object that `wrap` puts the client's members into,
// by pointers such as /arguments/ids. It refuses anything else in the place of that object, and a
// parameter of the client's with the name of a member that is placed there.
func checkBelowWrap(m *Mapping) error {
	r := m.Resource
	if r.Wrap == "" {
		return nil
	}
	below := m.placed.Below(r.Wrap)
	for _, name := range m.placed.Names() {
		if namesOf([]string{name}).Has(r.Wrap) && (name != r.Wrap || len(below) == 0) {
			return fmt.Errorf("as %s: `wrap` already sends %s, expected a pointer below it such as /%s/id, or another name", m.Route.As, r.Wrap, r.Wrap)
		}
	}
	if m.Kind == resource.List {
		return nil
	}
	names := namesOf(below)
	for _, n := range r.Query {
		if names.Has(n.Name) {
			return fmt.Errorf("as %s: `query` already sends %s, expected one of the two or another name", m.Route.As, n.Name)
		}
	}
	return nil
}

// placedWith are the client's members, in the one that wrap names if there is one, and behind them
// those that the gateway places. What it places below wrap goes into the same object.
func (m members) placedWith(placed members, wrap string) members {
	at := -1
	if wrap != "" {
		at = slices.IndexFunc(placed, func(p validate.Member) bool { return p.Name == wrap })
	}
	if at < 0 {
		return append(m.wrapped(wrap), placed...)
	}
	inside, _ := validate.Parse(placed[at].Value) // the gateway made it, and checkBelowWrap knows that it is an object
	return append(append(m, inside...).wrapped(wrap), slices.Delete(placed, at, at+1)...)
}
