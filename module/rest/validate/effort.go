package validate

import (
	"iter"
	"maps"
	"strconv"
	"strings"

	"github.com/santhosh-tekuri/jsonschema/v6"
)

// most bounds how often the values of a request's bodies are checked against schemas in total. A validator
// tries every alternative completely. If two of them lead to the same schema again, as in a tree
// whose nodes are distinguished by a member, the work doubles with each level, and thirty levels
// take only a few hundred bytes. Without that, a body of a megabyte needs some 300,000 checks.
const most = 500_000

// Effort is what is left of the work that a request may cause.
type Effort struct{ checks float64 }

// NewEffort returns the effort of a request of which nothing was checked yet.
func NewEffort() *Effort { return &Effort{most} }

// effort estimates the work for a body before it is done.
type effort struct {
	// beside maps each schema to those that are checked against the same value, including
	// itself, and how often.
	beside map[*jsonschema.Schema]weights
	of     map[*jsonschema.Schema]*costs
}

// costs are what checks against one schema cost.
type costs struct {
	number  float64 // for numbers
	nested  float64 // for lists and objects: what is nested in an enum or const is compared with them
	text    float64 // for each byte of a text
	names   float64 // for each byte of a member's name
	perName float64 // for each member
}

// longNumber is how many other checks a number costs whose fraction has hundreds of digits:
// bounds and multiples are computed exactly.
const longNumber = 30

// long reports whether a number has that many digits, or is the short form of one that does.
func long(literal string) bool {
	_, exponent, _ := strings.Cut(strings.ToLower(literal), "e")
	n, _ := strconv.Atoi(exponent) // it is of reasonable size
	return len(literal) > 64 || n > 64 || n < -64
}

// weights says how often each schema is checked.
type weights map[*jsonschema.Schema]float64

func (w weights) add(n float64, all ...*jsonschema.Schema) {
	for _, s := range all {
		if s != nil {
			w[s] += n
		}
	}
}

// any adds what may be a schema, several, or none.
func (w weights) any(n float64, v any) {
	switch v := v.(type) {
	case *jsonschema.Schema:
		w.add(n, v)
	case []*jsonschema.Schema:
		w.add(n, v...)
	}
}

// newEffort estimates the work with the given schemas and all that are reachable from them.
func newEffort(from ...*jsonschema.Schema) *effort {
	e := visit(from...)
	e.addCosts()
	return e
}

// reachable returns a schema and all that are reachable from it.
func reachable(from *jsonschema.Schema) iter.Seq[*jsonschema.Schema] {
	return maps.Keys(visit(from).beside)
}

// visit finds all schemas that are reachable from the given ones.
func visit(from ...*jsonschema.Schema) *effort {
	e := &effort{make(map[*jsonschema.Schema]weights), make(map[*jsonschema.Schema]*costs)}
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

// follow returns all schemas that are checked together with a schema, against the same value.
// The validator refuses to follow a schema that leads back to itself.
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

// fits reports whether checking a body against a schema is within what is left, from which it is taken.
func (e *effort) fits(s *jsonschema.Schema, body map[string]any, left *Effort) bool {
	return e.spend(body, e.beside[s], 0, &left.checks)
}

// shallow is the depth from which on checks cost more: each fault lists the names that lead to its value.
const shallow = 8

// spend visits a value and everything nested in it once.
func (e *effort) spend(value any, asked weights, depth int, left *float64) bool {
	each, tracked := max(1, float64(depth)/shallow), tracking(asked, value)
	for s, n := range asked {
		*left -= n * each * (e.cost(s, value) + tracked)
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
			if !e.spend(v, e.all(next), depth+1, left) {
				return false
			}
		}
	case []any:
		return e.spendAll(value, asked, depth, left)
	}
	return true
}

// spendAll visits once what all elements after the first ones have in common.
func (e *effort) spendAll(list []any, asked weights, depth int, left *float64) bool {
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
		if !e.spend(v, next, depth+1, left) {
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

// member adds what is checked for a member and its name; if every is set, for any member there
// may be.
func member(s *jsonschema.Schema, name string, every bool, n float64, to weights) {
	own, declared := s.Properties[name]
	to.add(n, own, propertyNames(s), s.UnevaluatedProperties)
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

// element adds what is checked for an element; for i = -1, for any element after the first ones.
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
