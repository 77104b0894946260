package pathpattern

import (
	"fmt"
	"maps"
)

// Expressions are the expressions of placeholders, by the placeholder's name. One that is given once
// applies to the whole resource and to those nested in it.
type Expressions map[string]*Expression

// Clone returns a copy, which is never nil.
func (all Expressions) Clone() Expressions {
	clone := Expressions{}
	maps.Copy(clone, all)
	return clone
}

// Add adds the expressions that a pattern gives.
func (all Expressions) Add(p Pattern) error {
	for _, s := range p.Segments {
		if s.Value == nil {
			continue
		}
		if other := all[s.Text]; other != nil && other.String() != s.Value.String() {
			return fmt.Errorf("the placeholder {%s} has two expressions, %s and %s, expected one for the resource and those in it",
				s.Text, Segment{Value: other}.expression(), s.expression())
		}
		all[s.Text] = s.Value
	}
	return nil
}

// Apply gives the placeholders of a pattern their expressions.
func (all Expressions) Apply(p Pattern) {
	for i, s := range p.Segments {
		if s.Param {
			p.Segments[i].Value = all[s.Text]
		}
	}
}
