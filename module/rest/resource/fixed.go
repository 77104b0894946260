package resource

import (
	"cmp"
	"fmt"
	"net/http"
	"slices"

	"github.com/gatehouse/gatehouse/module/rest/supply"
)

// Fixed is a parameter that the gateway sends with requests to the upstream, and clients cannot send.
type Fixed struct {
	// The parameter's name, or the header field's. Required.
	Name string `json:"name"`
	// Its value, in which placeholders such as `{file./run/csrf}` and `{env.KEY}` are filled in for
	// each request. Required.
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
		if err := supply.CheckValue(f.Param()); err != nil {
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

func (f Fixed) place() supply.Place { return cmp.Or(f.In, supply.Query) }

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
	if f.place() == other.place() {
		return supply.SamePlaceName(f.Name, other.Name)
	}
	return supply.SameName(f.Name, other.Name)
}

// Shared is what a configuration declares for all resources.
type Shared struct {
	HeaderDown, HeaderUp []string
	Fixed                []Fixed
	SignIn               []supply.Param // given by a sign-in, without values
}

// With returns the resource, and those nested in it, with what all resources share.
func (r Resource) With(s Shared) Resource {
	r.HeaderDown, r.HeaderUp = mergeFields(s.HeaderDown, r.HeaderDown), mergeFields(s.HeaderUp, r.HeaderUp)
	r.Shared, r.SignIn = s.Fixed, s.SignIn
	r.Nested = slices.Clone(r.Nested)
	for i, nested := range r.Nested {
		r.Nested[i] = nested.With(s)
	}
	return r
}

func mergeFields(a, b []string) []string {
	all := slices.Clone(a)
	for _, name := range b {
		if !slices.ContainsFunc(a, func(other string) bool { return http.CanonicalHeaderKey(other) == http.CanonicalHeaderKey(name) }) {
			all = append(all, name)
		}
	}
	return all
}
