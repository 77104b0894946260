package fieldnames

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"

	"github.com/gatehouse/gatehouse/module/internal/rest/splice"
	"github.com/gatehouse/gatehouse/module/rest/envelope"
	"github.com/gatehouse/gatehouse/module/rest/resource"
	"github.com/gatehouse/gatehouse/module/rest/validate"
)

// ToUpstream translates the members of a client's body to the upstream's names and values.
func (n *Names) ToUpstream(object validate.Object) (validate.Object, *envelope.Refusal) {
	theirs := make(validate.Object, 0, len(object))
	for _, m := range object {
		if resource.OverridesByMember(m.Name) {
			return nil, envelope.Invalid(m.Name, resource.NotOverridable)
		}
		if n.config.ReadOnly(m.Name) {
			return nil, envelope.Invalid(m.Name, "cannot be written")
		}
		_, renamed := n.config.Rename[m.Name]
		if n.isTheirs(m.Name) && !renamed || n.similar.isDisguised(m.Name) { // it would stand beside the renamed one
			return nil, envelope.Invalid(m.Name, validate.UnknownField)
		}
		if refused := n.inside.inside[m.Name].check([]string{m.Name}, m.Value); refused != nil {
			return nil, refused
		}
		value := m.Value
		if words, ok := n.config.Values[m.Name]; ok && string(value) != "null" {
			var word string
			err := json.Unmarshal(value, &word)
			text, known := words[word]
			if err != nil || !known {
				return nil, envelope.Invalid(m.Name, "must be one of: "+strings.Join(slices.Sorted(maps.Keys(words)), ", "))
			}
			value = literalOf(text)
		}
		theirs = append(theirs, validate.Member{Name: n.config.Their(m.Name), Value: value})
	}
	return theirs, nil
}

// literalOf returns a declared value as the upstream most likely writes it itself: 1 is a number.
func literalOf(text string) json.RawMessage {
	if json.Valid([]byte(text)) && text[0] != '{' && text[0] != '[' && text[0] != '"' {
		return json.RawMessage(text)
	}
	return splice.Quote(text)
}
