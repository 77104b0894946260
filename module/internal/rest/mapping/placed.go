package mapping

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
	"github.com/gatehouse/gatehouse/module/rest/resource"
	"github.com/gatehouse/gatehouse/module/rest/supply"
	"github.com/gatehouse/gatehouse/module/rest/validate"
)

// compilePlaced compiles the members that the gateway places in the body.
func compilePlaced(m *Mapping) (err error) {
	r := m.Route
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
	if m.placed, err = compose.Parse(r.Members, r.As == "json", m.Pattern.Names); err != nil {
		return fmt.Errorf("as %s: %w", r.As, err)
	}
	if parameters := m.placed.Parameters(); len(parameters) > 0 && !m.readsByBody() {
		return fmt.Errorf("as %s: unexpected placeholder {query.%s}, expected it in an upstream for GET alone: the parameters of a %s stay in the address", r.As, parameters[0], r.Method)
	}
	for _, placed := range r.Members {
		if m.Charset == nil {
			break
		}
		if _, ok := m.Charset.Encode(placed.Value); !ok {
			return fmt.Errorf("as %s: %s=%s has characters that %s does not have, expected others or another charset", r.As, placed.Name, placed.Value, m.Charset.Name())
		}
	}
	return nil
}

// checkPlaced refuses members whose name something else has in the same request, and reserves their names.
func checkPlaced(m *Mapping) error {
	if m.placed == nil {
		return nil
	}
	own := m.placed.Names()
	names := supply.Names(nil).With(own...)
	clash := func(name, by string) error {
		return fmt.Errorf("as %s: %s already sends %s, expected one of the two or another name", m.Route.As, by, name)
	}
	for _, name := range own {
		if m.isSupplied(name) {
			return clash(name, "`send fixed` or `login`")
		}
	}
	r := m.Resource
	if m.Kind == resource.List {
		for _, name := range r.List.Parameters() {
			if names.Has(name) && !slices.Contains(m.placed.Parameters(), name) {
				return clash(name, "`list`")
			}
		}
	} else {
		for _, n := range r.Query {
			if names.Has(n.Their()) && !slices.Contains(m.placed.Parameters(), n.Their()) || !m.readsByBody() && names.Has(n.Name) {
				return clash(n.Their(), "`query`")
			}
		}
	}
	query, _ := url.ParseQuery(m.template.QueryText())
	for _, name := range slices.Sorted(maps.Keys(query)) {
		same := func(m compose.Member) bool { return m.Name == name && m.Value == query.Get(name) }
		taken := func(placed string) bool { return supply.SameName(placed, name) }
		if slices.ContainsFunc(own, taken) && !slices.ContainsFunc(m.placed.Members(), same) {
			return clash(name, "the address")
		}
	}
	if m.readsByBody() {
		return nil // the client's body is not sent, and only declared parameters are
	}
	if err := checkBelowWrap(m); err != nil {
		return err
	}
	m.reserved, m.inQuery = m.reserved.With(m.ownNames()...), m.inQuery.With(m.ownNames()...)
	return checkAsked(m)
}

// checkAsked refuses declarations that ask clients for a member that they cannot send.
func checkAsked(m *Mapping) error {
	var must []string
	switch m.Kind {
	case resource.Replace:
		must = slices.Clone(m.Resource.Replace)
	case resource.Update:
		must = slices.Clone(m.Resource.Batch)
	}
	for _, rule := range m.Resource.Validate {
		if rule.Required && (m.Kind == resource.Create || m.Kind == resource.Replace || m.Kind == resource.Action) {
			must = append(must, rule.Field)
		}
	}
	for _, field := range must {
		if m.reserved.Has(field) || m.reserved.Has(m.Resource.Their(field)) {
			return fmt.Errorf("as %s: %s is placed by the gateway, expected no `replace`, `batch` or `required` that asks clients for it", m.Route.As, field)
		}
	}
	return nil
}

// Withheld returns the client's names of declared members that clients cannot send because the gateway places them.
func (m *Mapping) Withheld() (names []string) {
	if m.placed == nil || m.readsByBody() {
		return nil
	}
	own, r := supply.Names(nil).With(m.ownNames()...), m.Resource
	for ours, theirs := range r.Rename {
		if own.Has(ours) || own.Has(theirs) {
			names = append(names, ours)
		}
	}
	for _, rule := range r.Validate {
		if !resource.IsPointer(rule.Field) && (own.Has(rule.Field) || own.Has(r.Their(rule.Field))) {
			names = append(names, rule.Field)
		}
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// placedMembers returns the members that the gateway places, in order. parameters are those sent in the body.
func (req request) placedMembers(parameters url.Values) (members, *envelope.Refusal) {
	if req.placed == nil {
		return nil, nil
	}
	body, err := req.placed.Fill(req.values, func(name string) (string, bool) { return parameters.Get(name), parameters.Has(name) })
	var bad *rpc.ValueError
	switch {
	case errors.As(err, &bad) && bad.Ref.Place == rpc.Query:
		return nil, envelope.Invalid(req.Resource.ParameterName(bad.Ref.Name), bad.Why)
	case err != nil:
		return nil, envelope.Refuse(http.StatusNotFound, "")
	}
	object, refused := validate.Parse(body)
	return members(object), refused
}

// ownNames returns the names that clients cannot send because the gateway places members: those on the outermost
// level, and those beside the client's members below `wrap`.
func (m *Mapping) ownNames() []string {
	return slices.Concat(m.placed.Names(), m.placed.Below(m.Resource.Wrap))
}

// checkBelowWrap allows members in the object that `wrap` puts the client's members into, by pointers such as
// /arguments/ids. It refuses anything else in the place of that object, and parameters of clients with such a name.
func checkBelowWrap(m *Mapping) error {
	r := m.Resource
	if r.Wrap == "" {
		return nil
	}
	below := m.placed.Below(r.Wrap)
	for _, name := range m.placed.Names() {
		if supply.Names(nil).With(name).Has(r.Wrap) && (name != r.Wrap || len(below) == 0) {
			return fmt.Errorf("as %s: `wrap` already sends %s, expected a pointer below it such as /%s/id, or another name", m.Route.As, r.Wrap, r.Wrap)
		}
	}
	if m.Kind == resource.List {
		return nil
	}
	names := supply.Names(nil).With(below...)
	for _, n := range r.Query {
		if names.Has(n.Name) {
			return fmt.Errorf("as %s: `query` already sends %s, expected one of the two or another name", m.Route.As, n.Name)
		}
	}
	return nil
}

// placedWith returns the client's members, inside wrap if it is set, and those that the gateway places. Those
// that it places below wrap go into the same object. first has those of the gateway in front of the client's.
func (m members) placedWith(placed members, wrap string, first bool) members {
	join := func(own, placed members) members {
		if first {
			return slices.Concat(placed, own)
		}
		return slices.Concat(own, placed)
	}
	at := -1
	if wrap != "" {
		at = slices.IndexFunc(placed, func(p validate.Member) bool { return p.Name == wrap })
	}
	if at < 0 {
		return join(m.wrapped(wrap), placed)
	}
	inside, _ := validate.Parse(placed[at].Value) // checkBelowWrap knows that it is an object
	return join(join(m, members(inside)).wrapped(wrap), slices.Delete(placed, at, at+1))
}
