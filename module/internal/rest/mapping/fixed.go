package mapping

import (
	"fmt"
	"net/url"
	"slices"

	"github.com/gatehouse/gatehouse/module/rest/envelope"
	"github.com/gatehouse/gatehouse/module/rest/resource"
	"github.com/gatehouse/gatehouse/module/rest/supply"
	"github.com/gatehouse/gatehouse/module/rest/validate"
)

// compileFixed compiles the parameters that the gateway sends, and the names that clients must not use.
func (m *Mapping) compileFixed() error {
	r := m.Resource
	all := slices.Concat(r.Shared, r.Fixed)
	named := slices.Clone(all)
	for _, p := range r.SignIn {
		named = append(named, resource.Fixed{Name: p.Name, In: p.In})
	}
	if err := resource.CheckFixed(named); err != nil {
		return err
	}
	for _, f := range all {
		if len(f.Operations) == 0 || slices.Contains(f.Operations, m.Kind) {
			m.Supplied = append(m.Supplied, f.Param())
		}
	}
	params := slices.Concat(m.Supplied, r.SignIn)
	m.reserved = supply.NamesOf(params)
	m.inQuery = supply.NamesInQuery(params)
	if m.call != nil || m.readsByBody() { // the client's parameters are sent in the body
		m.inQuery = m.reserved
	}
	if m.BodyForm() == "json" && m.call == nil && r.Wrap == "" { // else the client's members are inside another one themselves
		m.inside = supply.NamesInside(params)
	}
	m.addsToQuery = slices.ContainsFunc(params, func(p supply.Param) bool { return p.In == supply.Query })
	if err := m.checkSupplied(params); err != nil {
		return err
	}
	if len(m.reserved) == 0 {
		return nil
	}
	taken := make([]string, 0, len(m.known))
	for _, n := range m.known {
		taken = append(taken, n.Their(), n.Name)
	}
	query, _ := url.ParseQuery(m.template.QueryText())
	for name := range query { // it may have the name in the other convention: clients send neither
		if m.isSupplied(name) {
			taken = append(taken, name)
		}
	}
	if m.Kind == resource.List {
		taken = append(taken, r.List.Parameters()...)
	}
	var members []string
	for ours, theirs := range r.Rename {
		members = append(members, ours, theirs)
	}
	if r.Wrap != "" && m.BodyForm() != "" {
		members = append(members, r.Wrap)
	}
	if taken = slices.Concat(among(m.inQuery, taken), among(m.reserved, members)); len(taken) > 0 {
		return fmt.Errorf("send fixed: %s is sent by other words already, expected another name", slices.Min(taken))
	}
	return nil
}

// among returns those of the names that are reserved.
func among(reserved supply.Names, names []string) []string {
	return slices.DeleteFunc(names, func(name string) bool { return !reserved.Has(name) })
}

// isSupplied reports whether a name that the gateway sends itself is also that of a parameter of `send fixed` or `login`.
func (m *Mapping) isSupplied(name string) bool {
	return slices.ContainsFunc(slices.Concat(m.Supplied, m.Resource.SignIn), func(p supply.Param) bool {
		return p.In != supply.Header && supply.SameName(p.Name, name)
	})
}

// checkSupplied refuses fixed parameters in a body that cannot contain them.
func (m *Mapping) checkSupplied(params []supply.Param) error {
	for _, p := range params {
		switch {
		case p.In != supply.Body:
		case m.Route.As == "xml":
			return fmt.Errorf("send fixed: %s cannot be part of a body in XML, expected query or header, or operations without `as xml`", p.Name)
		case m.ByXMLRPC():
			return fmt.Errorf("send fixed: %s cannot be part of a call by XML-RPC, expected query or header, or operations without `xmlrpc`", p.Name)
		case m.call != nil && slices.Contains([]string{"jsonrpc", "method", "params", "id"}, p.Name):
			return fmt.Errorf("send fixed: %s is a member of every call by RPC, expected another name", p.Name)
		}
	}
	return nil
}

// BodyForm returns the form of a body that the gateway makes if the client sends none: `form` or `json`, "" if the
// operation has no body.
func (m *Mapping) BodyForm() string {
	switch {
	case m.call != nil:
		return "json"
	case m.Kind == resource.Batch || (m.Kind == resource.List || m.Kind == resource.Read || m.Kind == resource.Delete) && m.Route.As == "":
		return ""
	case m.Route.As == "form" || m.Route.As == "multipart":
		return "form"
	}
	return "json"
}

// overlapsInQuery reports whether a parameter that nothing declares is a part of one that the gateway sends itself, or the
// other way round, where an upstream takes dots and brackets for steps into an object, as qs does.
func (m *Mapping) overlapsInQuery(name string) bool {
	return m.inQuery.HasAround(name) || m.inQuery.HasInside(name) || m.inside.HasInBrackets(name)
}

// overlapsReserved reports whether a member is a part of one that the gateway sends itself, or the other way round,
// where an upstream takes dots for steps into an object.
func overlapsReserved(m *Mapping, member validate.Member) bool {
	nested := member.Value[0] == '{' || member.Value[0] == '['
	return m.reserved.HasAround(member.Name) && !m.Names.Declares(member.Name) || nested && m.reserved.HasInside(member.Name)
}

// refuseInside refuses an object that has a member which the gateway sends beside it.
func (m *Mapping) refuseInside(member validate.Member) *envelope.Refusal {
	if len(m.inside) == 0 || member.Value[0] != '{' {
		return nil
	}
	object, refused := validate.Parse(member.Value)
	for _, in := range object {
		if m.inside.Has(in.Name) || m.inside.HasAround(in.Name) {
			return envelope.Invalid(validate.Field(member.Name, in.Name), supply.SetByGateway)
		}
	}
	return refused
}

// Sends reports whether requests of the operation have a place for a fixed parameter: one in the body needs a body.
func (m *Mapping) Sends(p supply.Param) bool { return p.In != supply.Body || m.BodyForm() != "" }
