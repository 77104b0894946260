package validate

import (
	"encoding/json"
	"maps"
	"strconv"
	"strings"

	"github.com/santhosh-tekuri/jsonschema/v6"
)

// most is how often a body's values are held against schemas, all in all. A validator
// goes through every alternative to its end: where two of them lead to the same schema
// again, as in a tree whose nodes are told apart by a member, the work doubles with each
// level, and thirty levels are a few hundred bytes. A body of a megabyte without that
// needs some 300,000.
const most = 500_000

// effort says how much work a body is, before it is done.
type effort struct {
	// beside are, for each schema, those that are asked of the same value, itself among
	// them, and how often.
	beside map[*jsonschema.Schema]weights
}

// longNumber is how many others a number costs whose fraction is of hundreds of digits:
// bounds and multiples are exact.
const longNumber = 30

// long reports that a number is, or is written shortly for one that is.
func long(literal string) bool {
	_, exponent, _ := strings.Cut(strings.ToLower(literal), "e")
	n, _ := strconv.Atoi(exponent) // it is proportionate
	return len(literal) > 64 || n > 64 || n < -64
}

// weights are how often schemas are asked.
type weights map[*jsonschema.Schema]float64

func (w weights) add(n float64, all ...*jsonschema.Schema) {
	for _, s := range all {
		if s != nil {
			w[s] += n
		}
	}
}

// any is for what may be a schema, several, or none.
func (w weights) any(n float64, v any) {
	switch v := v.(type) {
	case *jsonschema.Schema:
		w.add(n, v)
	case []*jsonschema.Schema:
		w.add(n, v...)
	}
}

// newEffort goes through all schemas that can be reached from some.
func newEffort(from ...*jsonschema.Schema) *effort {
	e := &effort{make(map[*jsonschema.Schema]weights)}
	for len(from) > 0 {
		s := from[len(from)-1]
		from = from[:len(from)-1]
		if e.beside[s] != nil {
			continue
		}
		for next := range e.follow(s) {
			below := make(weights)
			member(next, "", true, 1, below)
			element(next, -1, 1, below)
			below.add(1, next.PrefixItems...)
			below.any(1, next.Items)
			for _, property := range next.Properties {
				below.add(1, property)
			}
			for s := range maps.Keys(below) {
				from = append(from, s)
			}
		}
	}
	return e
}

// follow gives all schemas that a value has to do with which is held against one. One
// that leads back to itself the validator refuses to follow.
func (e *effort) follow(s *jsonschema.Schema) weights {
	if w := e.beside[s]; w != nil {
		return w
	}
	w, next := weights{s: 1}, make(weights)
	e.beside[s] = w
	next.add(1, s.Ref, s.RecursiveRef, s.Not, s.If, s.Then, s.Else)
	if s.DynamicRef != nil {
		next.add(1, s.DynamicRef.Ref)
	}
	next.add(1, s.AllOf...)
	next.add(1, s.AnyOf...)
	next.add(1, s.OneOf...)
	for _, d := range s.DependentSchemas {
		next.add(1, d)
	}
	for _, d := range s.Dependencies {
		next.any(1, d)
	}
	for other, n := range next {
		for leaf, m := range e.follow(other) {
			w[leaf] += n * m
		}
	}
	w[s] = 1
	return w
}

// fits reports whether it is no more work than it may be to hold a body against a schema.
func (e *effort) fits(s *jsonschema.Schema, body map[string]any) bool {
	left := float64(most)
	return e.spend(body, e.beside[s], &left)
}

// spend goes once through a value and what is nested in it.
func (e *effort) spend(value any, asked weights, left *float64) bool {
	each := 1.0
	if number, ok := value.(json.Number); ok && long(string(number)) {
		each = longNumber
	}
	for _, n := range asked {
		*left -= n * each
	}
	if *left < 0 {
		return false
	}
	switch value := value.(type) {
	case map[string]any:
		for name, v := range value {
			next := make(weights)
			for s, n := range asked {
				member(s, name, false, n, next)
			}
			if !e.spend(v, e.all(next), left) {
				return false
			}
		}
	case []any:
		return e.spendAll(value, asked, left)
	}
	return true
}

// spendAll asks once what all elements behind the first ones have to do with.
func (e *effort) spendAll(list []any, asked weights, left *float64) bool {
	first := 0
	for s := range asked {
		tuple, _ := s.Items.([]*jsonschema.Schema)
		first = max(first, len(s.PrefixItems), len(tuple))
	}
	var rest weights
	for i, v := range list {
		next := rest
		if next == nil {
			own := make(weights)
			for s, n := range asked {
				element(s, i, n, own)
			}
			if next = e.all(own); i >= first {
				rest = next
			}
		}
		if !e.spend(v, next, left) {
			return false
		}
	}
	return true
}

// all adds what follows from schemas.
func (e *effort) all(some weights) weights {
	w := make(weights, len(some))
	for s, n := range some {
		for leaf, m := range e.beside[s] {
			w[leaf] += n * m
		}
	}
	return w
}

// member adds what is asked of a member, and of its name; of any there may be for every.
func member(s *jsonschema.Schema, name string, every bool, n float64, to weights) {
	own, declared := s.Properties[name]
	to.add(n, own, s.PropertyNames, s.UnevaluatedProperties)
	for pattern, p := range s.PatternProperties {
		if every || pattern.MatchString(name) {
			to.add(n, p)
			declared = true
		}
	}
	if every || !declared {
		to.any(n, s.AdditionalProperties)
	}
}

// element adds what is asked of an element; of any there may be behind the first ones
// for -1.
func element(s *jsonschema.Schema, i int, n float64, to weights) {
	to.add(n, s.Contains, s.UnevaluatedItems)
	prefix := s.PrefixItems
	switch items := s.Items.(type) {
	case *jsonschema.Schema:
		to.add(n, items)
	case []*jsonschema.Schema:
		prefix = items
	}
	if i >= 0 && i < len(prefix) {
		to.add(n, prefix[i])
		return
	}
	to.add(n, s.Items2020)
	to.any(n, s.AdditionalItems)
}
