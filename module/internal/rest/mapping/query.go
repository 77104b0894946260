package mapping

import (
	"fmt"
	"maps"
	"net/url"
	"slices"

	"github.com/gatehouse/gatehouse/module/rest/envelope"
	"github.com/gatehouse/gatehouse/module/rest/list"
	"github.com/gatehouse/gatehouse/module/rest/resource"
)

// buildQuery sets the upstream's parameters, or refuses the client's.
func (req request) buildQuery(up *Upstream, a Asked, asked url.Values) *envelope.Refusal {
	if req.op.Kind == resource.List {
		q, refused := req.op.Resource.List.Parse(asked)
		if refused != nil {
			return refused
		}
		up.List = &q
		if refused := req.seekCursor(up, a, asked); refused != nil {
			return refused
		}
		own := make(url.Values)
		q.Send(own)
		if req.op.call != nil || req.op.readsByBody() {
			up.parameters = own
			return nil
		}
		own, refused = req.op.text.encodeQuery(own)
		up.addQuery(own)
		return refused
	}
	own, refused := req.op.translateQuery(asked)
	if req.op.call != nil {
		if refused != nil {
			return refused
		}
		up.parameters = own
		return req.op.checkParametersSent(own)
	}
	if req.op.readsByBody() {
		up.parameters = own
		return refused
	}
	if refused == nil {
		own, refused = req.op.text.encodeQuery(own)
	}
	up.addQuery(own)
	return refused
}

// parameters returns the parameters that an operation other than a declared list passes on, and whether
// it passes on all.
func (m *Mapping) parameters() (names []list.Name, all bool) {
	r := m.Resource
	names = r.Query
	if m.ListLike && len(r.Routes) == 0 {
		names = slices.Clone(names)
		for _, name := range resource.ConventionalParameters {
			names = append(names, list.Name{Name: name})
		}
	}
	return names, r.IsConventional()
}

// PassedOn returns the names of the parameters that an operation other than a declared list is known to
// pass on. Where nothing is declared of the resource, it passes on others too.
func (m *Mapping) PassedOn() (names []string) {
	if m.Kind == resource.List || m.Kind == resource.Batch {
		return nil
	}
	known, _ := m.parameters()
	for _, n := range known {
		names = append(names, n.Name)
	}
	return names
}

// translateQuery returns the parameters that are passed on, by the upstream's names.
func (m *Mapping) translateQuery(asked url.Values) (url.Values, *envelope.Refusal) {
	names, all := m.parameters()
	theirs := make(url.Values, len(asked))
	for _, name := range slices.Sorted(maps.Keys(asked)) {
		i := slices.IndexFunc(names, func(n list.Name) bool { return n.Name == name })
		if refused := m.refuseReserved(name); refused != nil {
			return nil, refused
		}
		switch {
		case resource.OverridesByQuery(name):
			return nil, envelope.Invalid(name, "must not be there: the method of a request cannot be overridden")
		case i < 0 && !all:
			return nil, envelope.Invalid(name, "is not a parameter of this address")
		case i < 0:
			theirs[name] = asked[name]
		case len(asked[name]) > 1:
			return nil, envelope.Invalid(name, "must not be given more than once")
		case !list.IsText(asked.Get(name)):
			return nil, envelope.Invalid(name, fmt.Sprintf("must be a text of 1 to %d bytes without control characters", list.MaxText))
		default:
			theirs.Set(names[i].Their(), asked.Get(name))
		}
	}
	return theirs, nil
}
