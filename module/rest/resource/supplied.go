package resource

import (
	"fmt"
	"net/url"
	"slices"

	"github.com/gatehouse/gatehouse/module/rest/envelope"
	"github.com/gatehouse/gatehouse/module/rest/supply"
)

// Fixed is a parameter that the gateway sends with requests for the upstream, and no client can.
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

// CheckFixed says what is wrong with parameters.
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

// Param is the parameter, with placeholders in its value.
func (f Fixed) Param() supply.Param { return supply.Param{In: f.place(), Name: f.Name, Value: f.Value} }

// clashes reports whether two parameters go with one operation and could be taken for each other.
func (f Fixed) clashes(other Fixed) bool {
	if len(f.Operations) > 0 && len(other.Operations) > 0 && !slices.ContainsFunc(f.Operations, func(k Kind) bool { return slices.Contains(other.Operations, k) }) {
		return false
	}
	if f.place() == supply.Header || other.place() == supply.Header {
		return f.place() == other.place() && supply.SameField(f.Name, other.Name)
	}
	return supply.NamesOf([]supply.Param{f.Param()}).Has(other.Name)
}

// WithSupplied is the resource, and those nested in it, with parameters that go with all: fixed
// ones, and those whose values a sign-in gives.
func (r Resource) WithSupplied(fixed []Fixed, kept []supply.Param) Resource {
	r.shared, r.kept = fixed, kept
	if len(r.Nested) > 0 {
		nested := make([]Resource, len(r.Nested))
		for i, below := range r.Nested {
			nested[i] = below.WithSupplied(fixed, kept)
		}
		r.Nested = nested
	}
	return r
}

// supply notes what the gateway sends with the operation, and which names are its own then.
func (o *Operation) supply() error {
	r := o.Resource
	all := slices.Concat(r.shared, r.Fixed)
	named := slices.Clone(all)
	for _, p := range r.kept {
		named = append(named, Fixed{Name: p.Name, In: p.In})
	}
	if err := CheckFixed(named); err != nil {
		return err
	}
	for _, f := range all {
		if len(f.Operations) == 0 || slices.Contains(f.Operations, o.Kind) {
			o.fixed = append(o.fixed, f.Param())
		}
	}
	params := slices.Concat(o.fixed, r.kept)
	o.reserved = supply.NamesOf(params)
	if err := o.checkSupplied(params); err != nil {
		return err
	}
	if len(o.reserved) == 0 {
		return nil
	}
	names, _ := o.parameters()
	taken := make([]string, 0, len(names))
	for _, n := range names {
		taken = append(taken, n.Their(), n.Name)
	}
	query, _ := url.ParseQuery(o.template.QueryText())
	for name := range query {
		taken = append(taken, name)
	}
	if o.Kind == List {
		taken = append(taken, r.List.Parameters()...)
	}
	for ours, theirs := range r.Rename {
		taken = append(taken, ours, theirs)
	}
	if r.Wrap != "" && o.As() != "" {
		taken = append(taken, r.Wrap)
	}
	slices.Sort(taken)
	for _, name := range taken {
		if o.reserved.Has(name) {
			return fmt.Errorf("send fixed: %s is sent by other words already, expected another name", name)
		}
	}
	return nil
}

// Fixed are the parameters that go with the operation, with the placeholders of their values.
func (o *Operation) Fixed() []supply.Param { return o.fixed }

// As is the form of a body that has to be made, where the client sends none: `form` or `json`; ""
// where the operation has no body.
func (o *Operation) As() string {
	switch {
	case o.call != nil:
		return "json"
	case o.Kind == Batch || (o.Kind == List || o.Kind == Read || o.Kind == Delete) && o.as == "":
		return ""
	case o.as == "form" || o.as == "multipart":
		return "form"
	}
	return "json"
}

const setByGateway = "must not be there: the gateway sets it itself"

// setHere refuses a client's parameter with a name that the gateway sends itself.
func (o *Operation) setHere(name string) *envelope.Refusal {
	if !o.reserved.Has(name) {
		return nil
	}
	return envelope.Invalid(name, setByGateway)
}

// setsBody reports whether the gateway sends something in the body of an operation.
func (o *Operation) setsBody(p supply.Param) bool { return p.In == supply.Body && o.As() != "" }
