package validate

import (
	"slices"

	"github.com/santhosh-tekuri/jsonschema/v6"
)

// ask makes the schema of a request's body out of that of a resource: readOnly members must be absent and
// are not required. It changes all schemas that are reachable, since a $dynamicRef leads to these and not
// to copies.
func ask(s *jsonschema.Schema) {
	for reached := range reachable(s) {
		for name, property := range reached.Properties {
			if readOnly(property, 0) {
				reached.Properties[name] = forbidden(property)
				reached.Required = slices.DeleteFunc(slices.Clone(reached.Required), func(required string) bool { return required == name })
			}
		}
	}
}

// partial derives the schema of a PATCH from that of a body: no member of the outermost level is required,
// however the schema is composed. blank is a schema without constraints of the same compiler.
func partial(s, blank *jsonschema.Schema) *jsonschema.Schema {
	p := patch{blank: blank, made: make(map[*jsonschema.Schema]*jsonschema.Schema)}
	return p.schema(s)
}

type patch struct {
	blank *jsonschema.Schema
	made  map[*jsonschema.Schema]*jsonschema.Schema // by the original
}

// schema copies a schema and the subschemas that are evaluated for the same value.
func (p *patch) schema(s *jsonschema.Schema) *jsonschema.Schema {
	if s == nil {
		return nil
	}
	if made := p.made[s]; made != nil {
		return made // schemas may be recursive
	}
	c := *s
	p.made[s] = &c
	c.Required, c.MinProperties, c.DependentRequired = nil, nil, nil
	c.Ref, c.RecursiveRef = p.schema(s.Ref), p.schema(s.RecursiveRef)
	if s.DynamicRef != nil { // the schemas around it are those of whole bodies
		c.DynamicRef = &jsonschema.DynamicRef{Ref: p.schema(s.DynamicRef.Ref)}
	}
	c.AllOf, c.AnyOf = p.list(s.AllOf), p.list(s.AnyOf)
	if len(s.OneOf) > 0 {
		// With fewer members, a value satisfies more alternatives. A copy of blank has what the validator
		// reads in every schema around a reference.
		one := *p.blank
		one.DraftVersion, one.Location, one.AnyOf = s.DraftVersion, s.Location, p.list(s.OneOf)
		c.AllOf, c.OneOf = append(c.AllOf, &one), nil
	}
	// The condition is evaluated unchanged; what follows from it is not required.
	c.Then, c.Else = p.schema(s.Then), p.schema(s.Else)
	if s.DependentSchemas != nil {
		c.DependentSchemas = make(map[string]*jsonschema.Schema, len(s.DependentSchemas))
		for name, d := range s.DependentSchemas {
			c.DependentSchemas[name] = p.schema(d)
		}
	}
	if s.Dependencies != nil {
		c.Dependencies = make(map[string]any, len(s.Dependencies))
		for name, d := range s.Dependencies {
			if d, ok := d.(*jsonschema.Schema); ok {
				c.Dependencies[name] = p.schema(d)
			}
		}
	}
	return &c
}

func (p *patch) list(all []*jsonschema.Schema) (list []*jsonschema.Schema) {
	for _, s := range all {
		list = append(list, p.schema(s))
	}
	return list
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
