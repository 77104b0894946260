package validate

import (
	"slices"

	"github.com/santhosh-tekuri/jsonschema/v6"
)

// asked derives the schema of a request's body from that of a resource: readOnly members must be
// absent and are not required. If partial is set, no member of the outermost level is required,
// however the schema is composed. The original is not changed.
func asked(s *jsonschema.Schema, partial bool) *jsonschema.Schema {
	r := request{made: make(map[original]*jsonschema.Schema)}
	return r.schema(s, partial)
}

type request struct {
	made map[original]*jsonschema.Schema
}

type original struct {
	schema  *jsonschema.Schema
	partial bool
}

// schema copies a schema. partial also applies to the subschemas that are evaluated for the same
// value.
func (r *request) schema(s *jsonschema.Schema, partial bool) *jsonschema.Schema {
	if s == nil {
		return nil
	}
	key := original{s, partial}
	if made := r.made[key]; made != nil {
		return made // schemas may be recursive
	}
	c := *s
	r.made[key] = &c
	r.inPlace(&c, s, partial)
	r.members(&c, s)
	r.elements(&c, s)
	if partial {
		c.Required, c.MinProperties, c.DependentRequired = nil, nil, nil
	}
	return &c
}

func (r *request) inPlace(c, s *jsonschema.Schema, partial bool) {
	c.Ref, c.RecursiveRef = r.schema(s.Ref, partial), r.schema(s.RecursiveRef, partial)
	if s.DynamicRef != nil {
		d := *s.DynamicRef
		d.Ref = r.schema(d.Ref, partial)
		c.DynamicRef = &d
	}
	c.AllOf, c.AnyOf, c.OneOf = r.list(s.AllOf, partial), r.list(s.AnyOf, partial), r.list(s.OneOf, partial)
	if partial && len(c.OneOf) > 0 {
		// With fewer members, a value satisfies more alternatives.
		c.AllOf = append(c.AllOf, &jsonschema.Schema{DraftVersion: s.DraftVersion, Location: s.Location, AnyOf: c.OneOf})
		c.OneOf = nil
	}
	// The condition is evaluated unchanged; what follows from it is not required.
	c.Then, c.Else = r.schema(s.Then, partial), r.schema(s.Else, partial)
	c.DependentSchemas = r.byName(s.DependentSchemas, partial)
	if s.Dependencies != nil {
		c.Dependencies = make(map[string]any, len(s.Dependencies))
		for name, d := range s.Dependencies {
			switch d := d.(type) {
			case *jsonschema.Schema:
				c.Dependencies[name] = r.schema(d, partial)
			case []string:
				if !partial {
					c.Dependencies[name] = d
				}
			}
		}
	}
}

func (r *request) members(c, s *jsonschema.Schema) {
	c.Properties = r.byName(s.Properties, false)
	for name, property := range s.Properties {
		if readOnly(property, 0) {
			c.Properties[name] = forbidden(property)
		}
	}
	c.Required = slices.DeleteFunc(slices.Clone(s.Required), func(name string) bool {
		property := s.Properties[name]
		return property != nil && readOnly(property, 0)
	})
	if s.PatternProperties != nil {
		c.PatternProperties = make(map[jsonschema.Regexp]*jsonschema.Schema, len(s.PatternProperties))
		for pattern, property := range s.PatternProperties {
			c.PatternProperties[pattern] = r.schema(property, false)
		}
	}
	c.AdditionalProperties = r.any(s.AdditionalProperties)
	c.UnevaluatedProperties = r.schema(s.UnevaluatedProperties, false)
}

func (r *request) elements(c, s *jsonschema.Schema) {
	c.Items, c.AdditionalItems = r.any(s.Items), r.any(s.AdditionalItems)
	c.PrefixItems = r.list(s.PrefixItems, false)
	c.Items2020, c.UnevaluatedItems = r.schema(s.Items2020, false), r.schema(s.UnevaluatedItems, false)
}

func (r *request) list(all []*jsonschema.Schema, partial bool) (list []*jsonschema.Schema) {
	for _, s := range all {
		list = append(list, r.schema(s, partial))
	}
	return list
}

func (r *request) byName(all map[string]*jsonschema.Schema, partial bool) map[string]*jsonschema.Schema {
	if all == nil {
		return nil
	}
	named := make(map[string]*jsonschema.Schema, len(all))
	for name, s := range all {
		named[name] = r.schema(s, partial)
	}
	return named
}

func (r *request) any(v any) any {
	switch v := v.(type) {
	case *jsonschema.Schema:
		return r.schema(v, false)
	case []*jsonschema.Schema:
		return r.list(v, false)
	}
	return v
}

// maxReferences is how many references of a property are followed to see whether it is readOnly.
const maxReferences = 32

// readOnly also follows the references of a property.
func readOnly(s *jsonschema.Schema, depth int) bool {
	if s == nil || depth > maxReferences {
		return false
	}
	return s.ReadOnly || readOnly(s.Ref, depth+1) || slices.ContainsFunc(s.AllOf, func(s *jsonschema.Schema) bool { return readOnly(s, depth+1) })
}

// forbidden returns a schema that no value satisfies. It keeps the annotations, for
// descriptions.
func forbidden(s *jsonschema.Schema) *jsonschema.Schema {
	c, never := *s, false
	c.Bool, c.ReadOnly = &never, true
	return &c
}
