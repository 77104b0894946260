package fieldnames

import (
	"encoding/json"
	"slices"

	"github.com/gatehouse/gatehouse/module/rest/envelope"
	"github.com/gatehouse/gatehouse/module/rest/validate"
)

// place is an object in bodies with the members that rules name there.
type place struct {
	similar  similar
	inside   map[string]*place
	declared bool // a rule names the member here
	dotted   bool // a rule names it with dots instead, such as meta.role
}

// add notes the place of a member. bound says that the rule for it has constraints.
func (p *place) add(at []string, bound, asXML bool) {
	name := at[0]
	next := p.step(name, asXML)
	p.similar.note(name)
	if bound {
		p.similar.bind(name)
	}
	if next.declared = true; len(at) > 1 {
		next.add(at[1:], bound, asXML)
	}
}

// addDotted notes the place of a member that a rule names with dots.
func (p *place) addDotted(at []string, asXML bool) {
	for _, name := range at {
		p = p.step(name, asXML)
	}
	p.dotted = true
}

// step returns the place of a member.
func (p *place) step(name string, asXML bool) *place {
	if p.inside == nil {
		p.similar, p.inside = newSimilar(asXML), make(map[string]*place)
	}
	if p.inside[name] == nil {
		p.inside[name] = new(place)
	}
	return p.inside[name]
}

// hasDotted reports whether a rule names a member here with dots.
func (p *place) hasDotted() bool {
	for _, next := range p.inside {
		if next.dotted && !next.declared {
			return true
		}
	}
	return false
}

// check refuses a member inside the one at path whose name is a declared one in another spelling, or which a rule
// names with dots.
func (p *place) check(path []string, value json.RawMessage) *envelope.Refusal {
	switch {
	case p == nil || p.inside == nil:
		return nil
	case value[0] == '[' && p.hasDotted(): // Mongoose takes a list for the object
		return envelope.Invalid(validate.Field(path...), validate.UnknownField)
	case value[0] != '{':
		return nil
	}
	object, refused := validate.Parse(value)
	if refused != nil {
		return refused
	}
	for _, m := range object {
		at := append(slices.Clone(path), m.Name)
		if p.similar.isDisguised(m.Name) {
			return envelope.Invalid(validate.Field(at...), validate.UnknownField)
		}
		next := p.inside[m.Name]
		if next != nil && next.dotted && !next.declared {
			return envelope.Invalid(validate.Field(at...), validate.UnknownField)
		}
		if refused := next.check(at, m.Value); refused != nil {
			return refused
		}
	}
	return nil
}
