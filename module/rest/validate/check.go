package validate

import (
	"fmt"

	"github.com/gatehouse/gatehouse/module/rest/envelope"
)

// Set are compiled constraints. A nil Set permits everything.
type Set struct{ rules []Rule }

// Compile checks constraints and reads the schema's file, if there is one.
func Compile(rules []Rule, schema *Schema) (*Set, error) {
	if schema != nil && schema.File == "" {
		return nil, fmt.Errorf("validate: schema: expected a file")
	}
	for _, r := range rules {
		if r.Field == "" {
			return nil, fmt.Errorf("validate: expected a field")
		}
	}
	return &Set{rules}, nil
}

// Check judges a body. Of a partial one, a PATCH, nothing is missing.
func (s *Set) Check(o Object, partial bool) *envelope.Refusal {
	if s == nil {
		return nil
	}
	for _, r := range s.rules {
		if r.Required && !partial && o.Get(r.Field) == nil {
			return envelope.Invalid(r.Field, "It is required.")
		}
	}
	return nil
}
