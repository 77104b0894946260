package validate

import (
	"encoding/json"

	"github.com/santhosh-tekuri/jsonschema/v6"
)

const (
	// enumPerCheck is how many values of an enum cost as much as a check: each is compared.
	enumPerCheck = 200
	// requiredPerCheck is how many required members cost as much as a check: a fault lists those that are missing.
	requiredPerCheck = 10
	// membersPerCheck is how many members of an object cost as much as a check: each is looked up.
	membersPerCheck = 20
	// closedPerCheck is the same where no other members are permitted: a fault lists those that there are.
	closedPerCheck = 10
	// distinctCost is what each value nested in a list costs whose elements must differ, as a part of a check.
	distinctCost = 0.25
	// trackedPerCheck is how many members or elements cost as much as a check where a schema notes which of them were evaluated.
	trackedPerCheck = 3
	// bytesPerCheck is how many bytes of a text cost as much as a check for each place of a pattern where a match may be.
	bytesPerCheck = 100
	// patternCost is what each pattern for names costs for each member, as a part of a check.
	patternCost = 0.06
)

// addCosts computes the costs of all schemas that were found.
func (e *effort) addCosts() {
	known := make(map[string]float64)
	widthOf := func(r jsonschema.Regexp) float64 {
		text := r.String()
		if known[text] == 0 {
			known[text] = width(text) / bytesPerCheck
		}
		return known[text]
	}
	for s := range e.beside {
		c := new(costs)
		e.of[s] = c
		if s.MultipleOf != nil {
			c.number++ // the quotient, and a second fault
		}
		if s.Enum != nil {
			c.addValues(s.Enum.Values...)
		}
		if s.Const != nil {
			c.addValues(*s.Const)
		}
		if s.Pattern != nil {
			c.text = widthOf(s.Pattern)
		}
		for pattern := range s.PatternProperties {
			c.names += widthOf(pattern)
			c.perName += patternCost
		}
	}
	for s := range e.beside {
		if of := propertyNames(s); of != nil {
			for leaf, n := range e.beside[of] {
				e.of[s].names += n * e.of[leaf].text
			}
		}
	}
}

// addValues adds the cost of comparing with values.
func (c *costs) addValues(values ...any) {
	for _, v := range values {
		switch v.(type) {
		case json.Number:
			c.number++
		case map[string]any, []any:
			c.nested += comparing(v)
		}
	}
}

// comparing is the cost of comparing with a value: numbers take long.
func comparing(v any) float64 {
	n := 1.0 / enumPerCheck
	switch v := v.(type) {
	case json.Number:
		n = 1
	case map[string]any:
		for _, member := range v {
			n += comparing(member)
		}
	case []any:
		for _, element := range v {
			n += comparing(element)
		}
	}
	return n
}

// cost is the cost of checking a value, without what is nested in it, against one schema.
func (e *effort) cost(s *jsonschema.Schema, value any) float64 {
	n, c := 1.0, e.of[s]
	if s.Enum != nil {
		n += float64(len(s.Enum.Values)) / enumPerCheck
	}
	switch value := value.(type) {
	case json.Number:
		n += c.number
		if long(string(value)) {
			n *= longNumber
		}
	case string:
		n += c.text * float64(len(value))
	case map[string]any:
		n += c.nested + c.perName*float64(len(value)) + float64(requiredOf(s, value))/requiredPerCheck
		n += float64(len(value) / membersPer(s)) // a few are part of the check
		if c.names > 0 {
			for name := range value {
				n += c.names * float64(len(name))
			}
		}
	case []any:
		n += c.nested
		if isDistinct(s) {
			n += distinctCost * float64(countValues(value))
		}
	}
	return n
}

// membersPer is how many members of an object cost as much as a check against a schema.
func membersPer(s *jsonschema.Schema) int {
	if s.AdditionalProperties == false {
		return closedPerCheck
	}
	return membersPerCheck
}

// requiredOf is how many members a schema requires of an object.
func requiredOf(s *jsonschema.Schema, object map[string]any) int {
	n := len(s.Required)
	for name, required := range s.DependentRequired {
		if _, there := object[name]; there {
			n += len(required)
		}
	}
	for name, dependency := range s.Dependencies {
		if required, ok := dependency.([]string); ok {
			if _, there := object[name]; there {
				n += len(required)
			}
		}
	}
	return n
}

// tracking is what each schema in asked costs in addition where one of them says what holds for members or elements that no
// other has evaluated: for each schema the validator notes which are left.
func tracking(asked weights, value any) float64 {
	for s := range asked {
		switch value := value.(type) {
		case map[string]any:
			if s.UnevaluatedProperties != nil {
				return float64(len(value)) / trackedPerCheck
			}
		case []any:
			if s.UnevaluatedItems != nil {
				return float64(len(value)) / trackedPerCheck
			}
		}
	}
	return 0
}

// countValues counts a value and all that are nested in it.
func countValues(v any) int {
	n := 1
	switch v := v.(type) {
	case map[string]any:
		for _, member := range v {
			n += countValues(member)
		}
	case []any:
		for _, element := range v {
			n += countValues(element)
		}
	}
	return n
}
