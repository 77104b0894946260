package fieldnames

import (
	"encoding/json"
	"slices"

	"github.com/gatehouse/gatehouse/module/rest/envelope"
	"github.com/gatehouse/gatehouse/module/rest/validate"
)

// place is an object in bodies with the members that rules name there.
type place struct {
	similar similar
	inside  map[string]*place
}

// add notes the place of a member.
func (p *place) add(at []string, asXML bool) {
	if p.inside == nil {
		p.similar, p.inside = newSimilar(asXML), make(map[string]*place)
	}
	name := at[0]
	if p.inside[name] == nil {
		p.inside[name] = new(place)
		p.similar.note(name)
	}
	if len(at) > 1 {
		p.inside[name].add(at[1:], asXML)
	}
}

// check refuses a member inside the one at path whose name is a declared one in another spelling.
func (p *place) check(path []string, value json.RawMessage) *envelope.Refusal {
	if p == nil || p.inside == nil || value[0] != '{' {
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
		if refused := p.inside[m.Name].check(at, m.Value); refused != nil {
			return refused
		}
	}
	return nil
}
