package resource

import (
	"errors"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"slices"

	"github.com/gatehouse/gatehouse/module/internal/rest/rpc"
	"github.com/gatehouse/gatehouse/module/rest/compose"
	"github.com/gatehouse/gatehouse/module/rest/envelope"
	"github.com/gatehouse/gatehouse/module/rest/supply"
	"github.com/gatehouse/gatehouse/module/rest/validate"
)

// compilePlaced compiles the members that the gateway places in the body.
func compilePlaced(o *Operation, r Route) (err error) {
	if len(r.Members) == 0 {
		return nil
	}
	switch r.As {
	case "form", "json", "multipart":
	case "":
		return fmt.Errorf("unexpected members, expected `as form`, `as json` or `as multipart` for the body that they are in")
	default:
		return fmt.Errorf("as %s: unexpected member %s, expected form, json or multipart, whose members have names", r.As, r.Members[0].Name)
	}
	if o.placed, err = compose.Parse(r.Members, r.As == "json", o.pattern.Names); err != nil {
		return fmt.Errorf("as %s: %w", r.As, err)
	}
	if parameters := o.placed.Parameters(); len(parameters) > 0 && !o.readsByBody() {
		return fmt.Errorf("as %s: unexpected placeholder {query.%s}, expected it in an upstream for GET alone: the parameters of a %s stay in the address", r.As, parameters[0], r.Method)
	}
	for _, m := range r.Members {
		if o.shape.charset == nil {
			break
		}
		if _, ok := o.shape.charset.Encode(m.Value); !ok {
			return fmt.Errorf("as %s: %s=%s has characters that %s does not have, expected others or another charset", r.As, m.Name, m.Value, o.shape.charset.Name())
		}
	}
	return nil
}

// checkPlaced refuses members with a name that something else has in the same request, and keeps
// clients from sending them.
func checkPlaced(o *Operation) error {
	if o.placed == nil {
		return nil
	}
	own := o.placed.Names()
	names := namesOf(own)
	clash := func(name, by string) error {
		return fmt.Errorf("as %s: %s already sends %s, expected one of the two or another name", o.as, by, name)
	}
	for _, name := range own {
		if o.reserved.Has(name) {
			return clash(name, "`send fixed` or `login`")
		}
	}
	r := o.Resource
	if o.Kind == List {
		for _, name := range r.List.Parameters() {
			if names.Has(name) && !slices.Contains(o.placed.Parameters(), name) {
				return clash(name, "`list`")
			}
		}
	} else {
		for _, n := range r.Query {
			if names.Has(n.Their()) && !slices.Contains(o.placed.Parameters(), n.Their()) || !o.readsByBody() && names.Has(n.Name) {
				return clash(n.Their(), "`query`")
			}
		}
	}
	query, _ := url.ParseQuery(o.template.QueryText())
	for _, name := range slices.Sorted(maps.Keys(query)) {
		same := func(m compose.Member) bool { return m.Name == name && m.Value == query.Get(name) }
		if names.Has(name) && !slices.ContainsFunc(o.placed.Members(), same) {
			return clash(name, "the address")
		}
	}
	if o.readsByBody() {
		return nil // no body of a client's goes along, and of its parameters those that are declared
	}
	if err := checkBelowWrap(o); err != nil {
		return err
	}
	o.reserved = namesOf(o.ownNames(), o.reserved)
	return checkAsked(o)
}

// checkAsked refuses to ask clients for a member that they cannot send.
func checkAsked(o *Operation) error {
	var must []string
	switch o.Kind {
	case Replace:
		must = slices.Clone(o.Resource.Replace)
	case Update:
		must = slices.Clone(o.Resource.Batch)
	}
	for _, rule := range o.Resource.Validate {
		if rule.Required && (o.Kind == Create || o.Kind == Replace || o.Kind == Action) {
			must = append(must, rule.Field)
		}
	}
	for _, field := range must {
		if o.reserved.Has(field) || o.reserved.Has(o.Resource.their(field)) {
			return fmt.Errorf("as %s: %s is placed by the gateway, expected no `replace`, `batch` or `required` that asks clients for it", o.as, field)
		}
	}
	return nil
}

// Withheld are the client's names of members of which something is declared, and which clients
// cannot send with the operation, since the gateway places them.
func (o *Operation) Withheld() (names []string) {
	if o.placed == nil || o.readsByBody() {
		return nil
	}
	own, r := namesOf(o.ownNames()), o.Resource
	for ours, theirs := range r.Rename {
		if own.Has(ours) || own.Has(theirs) {
			names = append(names, ours)
		}
	}
	for _, rule := range r.Validate {
		if !isPointer(rule.Field) && (own.Has(rule.Field) || own.Has(r.their(rule.Field))) {
			names = append(names, rule.Field)
		}
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// namesOf are names that clients must not use, besides others.
func namesOf(own []string, others ...supply.Names) supply.Names {
	params := make([]supply.Param, len(own))
	for i, name := range own {
		params[i] = supply.Param{In: supply.Body, Name: name}
	}
	names := supply.NamesOf(params)
	for _, more := range others {
		for name := range more {
			names[name] = true
		}
	}
	return names
}

// place gives the members that the gateway places, in their order. parameters are those of the
// upstream's query that go in the body.
func (m Match) place(parameters url.Values) (members, *envelope.Refusal) {
	o := m.Operation
	if o.placed == nil {
		return nil, nil
	}
	body, err := o.placed.Fill(m.Values, func(name string) (string, bool) { return parameters.Get(name), parameters.Has(name) })
	var bad *rpc.ValueError
	switch {
	case errors.As(err, &bad) && bad.Ref.Place == rpc.Query:
		return nil, envelope.Invalid(o.Resource.ourParameter(bad.Ref.Name), bad.Why)
	case err != nil:
		return nil, envelope.Refuse(http.StatusNotFound, "")
	}
	object, refused := validate.Parse(body)
	return members(object), refused
}

// idlePlaced finds a placeholder of a parameter that no client can send.
func (s *shape) idlePlaced(o *Operation) *IdleError {
	var known []string
	if o.Kind == List {
		known = s.config.List.Parameters()
	} else {
		for _, n := range s.config.Query {
			known = append(known, n.Their())
		}
	}
	for _, name := range o.placed.Parameters() {
		if !slices.Contains(known, name) {
			return &IdleError{s.config.Path, "upstream " + o.route, "{query." + name + "}", "expected a parameter by the API's name, of `list` for the collection and of `query` for others"}
		}
	}
	return nil
}
