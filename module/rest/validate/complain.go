package validate

import (
	"fmt"
	"slices"
	"strings"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/santhosh-tekuri/jsonschema/v6/kind"

	"github.com/gatehouse/gatehouse/module/rest/envelope"
)

// fault is one fault of a value: its place, and the violated keyword.
type fault struct {
	path []string
	kind jsonschema.ErrorKind
}

// complain names one member. The validator visits members in random order, so the fault whose
// place comes first is reported.
func complain(err *jsonschema.ValidationError) *envelope.Refusal {
	f := first(err)
	if len(f.path) == 0 {
		return envelope.Refuse(400, "the body "+f.text())
	}
	return invalid(Field(f.path...), f.text())
}

func first(err *jsonschema.ValidationError) fault {
	faults := leaves(nil, err)
	return slices.MinFunc(faults, func(a, b fault) int {
		if order := slices.Compare(a.path, b.path); order != 0 {
			return order
		}
		return strings.Compare(a.text(), b.text())
	})
}

// leaves returns the faults without causes. If a value satisfies none of several schemas and
// several members are at fault, the reasons explain little, and the value itself is reported.
func leaves(list []fault, err *jsonschema.ValidationError) []fault {
	at := slices.Clip(err.InstanceLocation)
	switch k := err.ErrorKind.(type) {
	case *kind.AnyOf, *kind.OneOf:
		return append(list, choice(at, err))
	case *kind.Required:
		return append(list, fault{append(at, slices.Min(k.Missing)), err.ErrorKind})
	case *kind.DependentRequired:
		return append(list, fault{append(at, slices.Min(k.Missing)), err.ErrorKind})
	case *kind.Dependency:
		return append(list, fault{append(at, slices.Min(k.Missing)), err.ErrorKind})
	case *kind.AdditionalProperties:
		return append(list, fault{append(at, slices.Min(k.Properties)), err.ErrorKind})
	case *kind.PropertyNames:
		return append(list, fault{append(at, k.Property), err.ErrorKind})
	}
	if len(err.Causes) == 0 {
		return append(list, fault{at, err.ErrorKind})
	}
	for _, cause := range err.Causes {
		list = leaves(list, cause)
	}
	return list
}

// choice returns the fault of a value that satisfies none of several schemas: that of the only
// invalid member, or else of the value.
func choice(at []string, err *jsonschema.ValidationError) fault {
	var all []fault
	for _, cause := range err.Causes {
		all = leaves(all, cause)
	}
	if len(all) == 0 || slices.ContainsFunc(all, func(f fault) bool { return !slices.Equal(f.path, all[0].path) }) {
		return fault{at, err.ErrorKind}
	}
	if len(all) == 1 {
		return all[0]
	}
	return fault{all[0].path, err.ErrorKind}
}

// text says what is wrong, without echoing what the client sent.
func (f fault) text() string {
	switch k := f.kind.(type) {
	case *kind.Required, *kind.DependentRequired, *kind.Dependency:
		return "is required"
	case *kind.AdditionalProperties, *kind.PropertyNames:
		return UnknownField
	case *kind.FalseSchema:
		return "cannot be written"
	case *kind.Type:
		return "must be of the type " + strings.Join(k.Want, " or ")
	case *kind.Enum:
		return "must be one of: " + listed(k.Want)
	case *kind.Const:
		return "must be " + listed([]any{k.Want})
	case *kind.Format:
		return "must be of the format " + k.Want
	case *kind.Pattern:
		return "must match " + k.Want
	case *kind.MinLength:
		return fmt.Sprintf("must have at least %d characters", k.Want)
	case *kind.MaxLength:
		return fmt.Sprintf("must have at most %d characters", k.Want)
	case *kind.MinItems:
		return fmt.Sprintf("must have at least %d elements", k.Want)
	case *kind.MaxItems:
		return fmt.Sprintf("must have at most %d elements", k.Want)
	case *kind.UniqueItems:
		return "must have elements that differ"
	case *kind.MinProperties:
		return fmt.Sprintf("must have at least %d fields", k.Want)
	case *kind.MaxProperties:
		return fmt.Sprintf("must have at most %d fields", k.Want)
	case *kind.Minimum:
		return "must be at least " + k.Want.RatString()
	case *kind.Maximum:
		return "must be at most " + k.Want.RatString()
	case *kind.ExclusiveMinimum:
		return "must be more than " + k.Want.RatString()
	case *kind.ExclusiveMaximum:
		return "must be less than " + k.Want.RatString()
	case *kind.MultipleOf:
		return "must be a multiple of " + k.Want.RatString()
	}
	return "does not fit the schema"
}

func listed(values []any) string {
	texts := make([]string, len(values))
	for i, v := range values {
		texts[i] = fmt.Sprint(v)
		switch v.(type) {
		case nil:
			texts[i] = "null"
		case map[string]any, []any:
			return "the declared values"
		}
	}
	return strings.Join(texts, ", ")
}
