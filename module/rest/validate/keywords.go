package validate

import (
	"encoding/json"
	"maps"
	"math/big"
	"slices"

	"github.com/santhosh-tekuri/jsonschema/v6"
)

// write returns one schema in the keywords of 2020-12. It leaves out what a description does not need:
// identifiers, anchors and comments. A $dynamicRef becomes the reference that it is without the
// schemas around it.
func (d *Described) write(s *jsonschema.Schema, partial bool) any {
	if d.nodes++; d.nodes > maxNodes {
		return true // it is left out as a whole
	}
	if s.Bool != nil && !s.ReadOnly {
		return *s.Bool
	}
	to := annotations(s)
	if s.Bool != nil {
		to["not"] = map[string]any{} // it is read only, and refused
	}
	references := []*jsonschema.Schema{s.Ref, s.RecursiveRef}
	if s.DynamicRef != nil {
		references = append(references, s.DynamicRef.Ref)
	}
	for _, r := range references {
		if r != nil {
			to["$ref"] = d.refer(r, partial)["$ref"]
		}
	}
	required, schemas := dependencies(s)
	prefix, items := s.PrefixItems, s.Items
	if all, ok := items.([]*jsonschema.Schema); ok { // of older drafts
		prefix, items = all, s.AdditionalItems
	}
	if s.Items2020 != nil {
		items = s.Items2020
	}
	patterns := make(map[string]*jsonschema.Schema, len(s.PatternProperties))
	for pattern, property := range s.PatternProperties {
		patterns[pattern.String()] = property
	}
	for _, k := range []struct {
		word    string
		value   any
		partial bool
	}{
		{"allOf", s.AllOf, partial}, {"anyOf", s.AnyOf, partial}, {"oneOf", s.OneOf, partial},
		{"not", s.Not, false}, {"if", s.If, false}, {"then", s.Then, partial}, {"else", s.Else, partial},
		{"dependentSchemas", schemas, partial}, {"dependentRequired", required, false},
		{"properties", s.Properties, false}, {"patternProperties", patterns, false}, {"additionalProperties", s.AdditionalProperties, false},
		{"unevaluatedProperties", s.UnevaluatedProperties, false}, {"propertyNames", propertyNames(s), false},
		{"required", s.Required, false}, {"minProperties", s.MinProperties, false}, {"maxProperties", s.MaxProperties, false},
		{"prefixItems", prefix, false}, {"items", items, false}, {"unevaluatedItems", s.UnevaluatedItems, false},
		{"contains", s.Contains, false}, {"minContains", s.MinContains, false}, {"maxContains", s.MaxContains, false},
		{"minItems", s.MinItems, false}, {"maxItems", s.MaxItems, false},
		{"minLength", s.MinLength, false}, {"maxLength", s.MaxLength, false},
		{"minimum", s.Minimum, false}, {"maximum", s.Maximum, false}, {"multipleOf", s.MultipleOf, false},
		{"exclusiveMinimum", s.ExclusiveMinimum, false}, {"exclusiveMaximum", s.ExclusiveMaximum, false},
	} {
		if value := d.keyword(k.value, k.partial); value != nil {
			to[k.word] = value
		}
	}
	scalarKeywords(to, s)
	return to
}

// dependencies returns what the presence of a member requires. Older drafts have one keyword for both.
func dependencies(s *jsonschema.Schema) (required map[string][]string, schemas map[string]*jsonschema.Schema) {
	required, schemas = maps.Clone(s.DependentRequired), maps.Clone(s.DependentSchemas)
	for name, d := range s.Dependencies {
		switch d := d.(type) {
		case []string:
			if required == nil {
				required = make(map[string][]string)
			}
			required[name] = d
		case *jsonschema.Schema:
			if schemas == nil {
				schemas = make(map[string]*jsonschema.Schema)
			}
			schemas[name] = d
		}
	}
	return required, schemas
}

// keyword returns the value of a keyword, nil if the schema does not have it.
func (d *Described) keyword(value any, partial bool) any {
	switch v := value.(type) {
	case bool: // instead of a schema
		return v
	case *jsonschema.Schema:
		if v != nil {
			return d.write(v, partial)
		}
	case []*jsonschema.Schema:
		if len(v) > 0 {
			list := make([]any, len(v))
			for i, s := range v {
				list[i] = d.write(s, partial)
			}
			return list
		}
	case map[string]*jsonschema.Schema:
		if len(v) > 0 {
			named := make(map[string]any, len(v))
			for _, name := range slices.Sorted(maps.Keys(v)) { // schemas get their names in this order
				named[name] = d.write(v[name], partial)
			}
			return named
		}
	case []string:
		if len(v) > 0 {
			return v
		}
	case map[string][]string:
		if len(v) > 0 {
			return v
		}
	case *int:
		if v != nil {
			return *v
		}
	case *big.Rat:
		if v != nil {
			digits, _ := v.FloatPrec() // a number that was written in decimals ends in them
			return json.Number(v.FloatString(digits))
		}
	}
	return nil
}

func scalarKeywords(to map[string]any, s *jsonschema.Schema) {
	if isDistinct(s) {
		to["uniqueItems"] = true
	}
	if s.Types != nil {
		types := s.Types.ToStrings()
		slices.Sort(types)
		to["type"] = types
		if len(types) == 1 {
			to["type"] = types[0]
		}
	}
	if s.Enum != nil {
		to["enum"] = s.Enum.Values
	}
	if s.Const != nil {
		to["const"] = *s.Const
	}
	if s.Format != nil {
		to["format"] = s.Format.Name
	}
	if s.Pattern != nil {
		to["pattern"] = s.Pattern.String()
	}
}

// annotations returns the keywords of a schema that constrain nothing.
func annotations(s *jsonschema.Schema) map[string]any {
	to := make(map[string]any)
	for word, value := range map[string]any{
		"title": s.Title, "description": s.Description, "readOnly": s.ReadOnly, "writeOnly": s.WriteOnly, "deprecated": s.Deprecated,
	} {
		if value != "" && value != false {
			to[word] = value
		}
	}
	if s.Default != nil {
		to["default"] = *s.Default
	}
	if len(s.Examples) > 0 {
		to["examples"] = s.Examples
	}
	return to
}
