package validate

import (
	"maps"
	"slices"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/santhosh-tekuri/jsonschema/v6/kind"
)

// names checks propertyNames in place of the validator, whose faults may name the place of another object: later checks
// overwrite it.
type names struct{ of *jsonschema.Schema }

// propertyNames returns the schema for the names of members, or nil.
func propertyNames(s *jsonschema.Schema) *jsonschema.Schema {
	for _, extension := range s.Extensions {
		if n, ok := extension.(names); ok {
			return n.of
		}
	}
	return s.PropertyNames
}

// Validate implements [jsonschema.SchemaExt].
func (n names) Validate(ctx *jsonschema.ValidatorContext, v any) {
	object, _ := v.(map[string]any)
	for _, name := range slices.Sorted(maps.Keys(object)) {
		if n.of.Validate(name) != nil {
			ctx.AddError(&kind.PropertyNames{Property: name})
		}
	}
}
