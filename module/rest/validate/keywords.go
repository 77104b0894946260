package validate

import (
	"encoding/json"
	"maps"
	"math/big"
	"slices"

	"github.com/santhosh-tekuri/jsonschema/v6"
)

// write says one schema in the words of 2020-12. What a description has no use for stays
// out: identifiers and anchors, comments, and $dynamicRef, of which the reference is
// written that it is without the schemas around it.
func (d *Described) write(s *jsonschema.Schema, partial bool) any {
	if d.nodes++; d.nodes > maxNodes {
		return true // it is left out as a whole
	}
	if s.Bool != nil && !s.ReadOnly {
		return *s.Bool
	}
	w := writing{d, make(map[string]any)}
	if s.Bool != nil {
		w.to["not"] = map[string]any{} // it is read only, and refused
	}
	w.inPlace(s, partial)
	w.object(s)
	w.array(s)
	w.scalar(s)
	maps.Copy(w.to, annotations(s))
	return w.to
}

// writing is one schema on its way.
type writing struct {
	*Described
	to map[string]any
}

func (w writing) inPlace(s *jsonschema.Schema, partial bool) {
	for _, r := range []*jsonschema.Schema{s.Ref, s.RecursiveRef} {
		if r != nil {
			w.to["$ref"] = w.reference(r, partial)
		}
	}
	if s.DynamicRef != nil && s.DynamicRef.Ref != nil {
		w.to["$ref"] = w.reference(s.DynamicRef.Ref, partial)
	}
	w.list("allOf", s.AllOf, partial)
	w.list("anyOf", s.AnyOf, partial)
	w.list("oneOf", s.OneOf, partial)
	w.one("not", s.Not, false)
	w.one("if", s.If, false)
	w.one("then", s.Then, partial)
	w.one("else", s.Else, partial)
	w.named("dependentSchemas", s.DependentSchemas, partial)
	for _, name := range slices.Sorted(maps.Keys(s.Dependencies)) {
		word, value := "dependentRequired", any(nil)
		switch v := s.Dependencies[name].(type) {
		case []string:
			value = v
		case *jsonschema.Schema:
			word, value = "dependentSchemas", w.write(v, partial)
		}
		all, _ := w.to[word].(map[string]any)
		if all == nil {
			all = make(map[string]any)
			w.to[word] = all
		}
		all[name] = value
	}
}

func (w writing) reference(s *jsonschema.Schema, partial bool) any {
	r, _ := w.refer(s, partial).(map[string]any)
	return r["$ref"]
}

func (w writing) object(s *jsonschema.Schema) {
	w.named("properties", s.Properties, false)
	if s.PatternProperties != nil {
		all := make(map[string]*jsonschema.Schema, len(s.PatternProperties))
		for pattern, property := range s.PatternProperties {
			all[pattern.String()] = property
		}
		w.named("patternProperties", all, false)
	}
	w.either("additionalProperties", s.AdditionalProperties)
	w.one("unevaluatedProperties", s.UnevaluatedProperties, false)
	w.one("propertyNames", s.PropertyNames, false)
	if len(s.Required) > 0 {
		w.to["required"] = s.Required
	}
	if len(s.DependentRequired) > 0 {
		w.to["dependentRequired"] = s.DependentRequired
	}
	w.count("minProperties", s.MinProperties)
	w.count("maxProperties", s.MaxProperties)
}

func (w writing) array(s *jsonschema.Schema) {
	w.list("prefixItems", s.PrefixItems, false)
	w.one("items", s.Items2020, false)
	if all, ok := s.Items.([]*jsonschema.Schema); ok { // of older drafts
		w.list("prefixItems", all, false)
		w.either("items", s.AdditionalItems)
	} else {
		w.either("items", s.Items)
	}
	w.one("unevaluatedItems", s.UnevaluatedItems, false)
	w.one("contains", s.Contains, false)
	w.count("minContains", s.MinContains)
	w.count("maxContains", s.MaxContains)
	w.count("minItems", s.MinItems)
	w.count("maxItems", s.MaxItems)
	w.flag("uniqueItems", s.UniqueItems)
}

func (w writing) scalar(s *jsonschema.Schema) {
	if s.Types != nil {
		switch types := s.Types.ToStrings(); len(types) {
		case 1:
			w.to["type"] = types[0]
		default:
			slices.Sort(types)
			w.to["type"] = types
		}
	}
	if s.Enum != nil {
		w.to["enum"] = s.Enum.Values
	}
	if s.Const != nil {
		w.to["const"] = *s.Const
	}
	if s.Format != nil {
		w.to["format"] = s.Format.Name
	}
	if s.Pattern != nil {
		w.to["pattern"] = s.Pattern.String()
	}
	w.count("minLength", s.MinLength)
	w.count("maxLength", s.MaxLength)
	for word, bound := range map[string]*big.Rat{
		"minimum": s.Minimum, "maximum": s.Maximum, "exclusiveMinimum": s.ExclusiveMinimum, "exclusiveMaximum": s.ExclusiveMaximum, "multipleOf": s.MultipleOf,
	} {
		if bound != nil {
			digits, _ := bound.FloatPrec() // what was written in decimals ends in them
			w.to[word] = json.Number(bound.FloatString(digits))
		}
	}
}

// annotations are the words of a schema that constrain nothing.
func annotations(s *jsonschema.Schema) map[string]any {
	to := make(map[string]any)
	for word, text := range map[string]string{"title": s.Title, "description": s.Description} {
		if text != "" {
			to[word] = text
		}
	}
	if s.Default != nil {
		to["default"] = *s.Default
	}
	if len(s.Examples) > 0 {
		to["examples"] = s.Examples
	}
	for word, set := range map[string]bool{"readOnly": s.ReadOnly, "writeOnly": s.WriteOnly, "deprecated": s.Deprecated} {
		if set {
			to[word] = true
		}
	}
	return to
}

func (w writing) one(word string, s *jsonschema.Schema, partial bool) {
	if s != nil {
		w.to[word] = w.write(s, partial)
	}
}

func (w writing) list(word string, all []*jsonschema.Schema, partial bool) {
	var list []any
	for _, s := range all {
		list = append(list, w.write(s, partial))
	}
	if list != nil {
		w.to[word] = list
	}
}

func (w writing) named(word string, all map[string]*jsonschema.Schema, partial bool) {
	if len(all) == 0 {
		return
	}
	named := make(map[string]any, len(all))
	for _, name := range slices.Sorted(maps.Keys(all)) { // names are given in their turn
		named[name] = w.write(all[name], partial)
	}
	w.to[word] = named
}

// either is a schema, or true or false.
func (w writing) either(word string, v any) {
	switch v := v.(type) {
	case bool:
		w.to[word] = v
	case *jsonschema.Schema:
		w.to[word] = w.write(v, false)
	}
}

func (w writing) count(word string, n *int) {
	if n != nil {
		w.to[word] = *n
	}
}

func (w writing) flag(word string, set bool) {
	if set {
		w.to[word] = true
	}
}
