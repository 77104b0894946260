package resource

import (
	"fmt"
	"slices"

	"github.com/gatehouse/gatehouse/module/rest/supply"
)

// Fixed is a parameter that the gateway sends with requests to the upstream, and clients cannot send.
type Fixed struct {
	// The parameter's name, or the header field's.
	Name string `json:"name"`
	// Its value, in which placeholders such as `{file./run/csrf}` and `{env.KEY}` are filled in for
	// each request.
	Value string `json:"value,omitempty"`
	// Where it stands: `query` (the default), `body` (a member of the body, in the form in which
	// that is sent) or `header`.
	In supply.Place `json:"in,omitempty"`
	// The kinds of operations it goes with: `list`, `read`, `create`, `replace`, `update`, `delete` or
	// `action`. Default: all.
	Operations []Kind `json:"operations,omitempty"`
}

// maxFixed bounds how many parameters can be declared in one place.
const maxFixed = 100

// CheckFixed checks fixed parameters.
func CheckFixed(all []Fixed) error {
	if len(all) > maxFixed {
		return fmt.Errorf("send fixed: %d parameters, expected at most %d", len(all), maxFixed)
	}
	for i, f := range all {
		if err := supply.CheckName(f.place(), f.Name); err != nil {
			return fmt.Errorf("send fixed: %w", err)
		}
		if err := supply.CheckValue(supply.Param{In: f.place(), Name: f.Name, Value: f.Value}); err != nil {
			return fmt.Errorf("send fixed: %w, expected one without", err)
		}
		for _, k := range f.Operations {
			if !slices.Contains(Kinds, k) || k == Batch {
				return fmt.Errorf("send fixed: unexpected '%s', expected list, read, create, replace, update, delete or action", k)
			}
		}
		for _, other := range all[:i] {
			if other.clashes(f) {
				return fmt.Errorf("send fixed: %s is given twice", f.Name)
			}
		}
	}
	return nil
}

func (f Fixed) place() supply.Place {
	if f.In == "" {
		return supply.Query
	}
	return f.In
}

// Param returns the parameter, with placeholders in its value.
func (f Fixed) Param() supply.Param { return supply.Param{In: f.place(), Name: f.Name, Value: f.Value} }

// clashes reports whether two parameters are sent with the same operation and could be taken for each
// other.
func (f Fixed) clashes(other Fixed) bool {
	if len(f.Operations) > 0 && len(other.Operations) > 0 && !slices.ContainsFunc(f.Operations, func(k Kind) bool { return slices.Contains(other.Operations, k) }) {
		return false
	}
	if f.place() == supply.Header || other.place() == supply.Header {
		return f.place() == other.place() && supply.SameField(f.Name, other.Name)
	}
	return supply.NamesOf([]supply.Param{f.Param()}).Has(other.Name)
}

// WithSupplied returns the resource, and those nested in it, with parameters that all resources
// have: fixed ones, and those whose values a sign-in gives.
func (r Resource) WithSupplied(fixed []Fixed, signIn []supply.Param) Resource {
	r.Shared, r.SignIn = fixed, signIn
	if len(r.Nested) > 0 {
		nested := make([]Resource, len(r.Nested))
		for i, below := range r.Nested {
			nested[i] = below.WithSupplied(fixed, signIn)
		}
		r.Nested = nested
	}
	return r
}
