package mapping

import (
	"slices"

	"github.com/gatehouse/gatehouse/module/internal/rest/rpc"
	"github.com/gatehouse/gatehouse/module/rest/resource"
)

const expectedParameter = "expected a parameter by the API's name, of `list` for the collection and of `query` for others"

// CheckIdle returns an error for a placeholder that nothing fills in, and for a list parameter that no call sends.
func (m *Mapping) CheckIdle() *resource.IdleError {
	switch {
	case m.placed != nil: // calls place no members
		return m.checkIdlePlaced()
	case m.call != nil:
		return m.checkIdleCall()
	}
	return nil
}

// upstreamParameters returns the declared parameters by the upstream's names.
func (m *Mapping) upstreamParameters() (names []string) {
	if m.Kind == resource.List {
		return m.Resource.List.Parameters()
	}
	for _, n := range m.Resource.Query {
		names = append(names, n.Their())
	}
	return names
}

func (m *Mapping) idle(word, part, why string) *resource.IdleError {
	return &resource.IdleError{Resource: m.Resource.Path, Word: word, Part: part, Why: why}
}

// checkIdlePlaced finds a placeholder for a parameter that no client can send.
func (m *Mapping) checkIdlePlaced() *resource.IdleError {
	known := m.upstreamParameters()
	for _, name := range m.placed.Parameters() {
		if !slices.Contains(known, name) {
			return m.idle("upstream "+m.Route.Method+" "+m.Route.Path, "{query."+name+"}", expectedParameter)
		}
	}
	return nil
}

// checkIdleCall finds a placeholder that nothing fills in, and a list parameter that the call does not send.
func (m *Mapping) checkIdleCall() *resource.IdleError {
	r, parameters := m.Resource, m.upstreamParameters()
	for _, ref := range m.call.Refs() {
		theirs, renamed := r.Rename[ref.Name]
		switch {
		case ref.Place == rpc.Query && !slices.Contains(parameters, ref.Name):
			return m.idle("upstream", ref.String(), expectedParameter)
		case ref.Place == rpc.Body && ref.Name != "" && renamed && theirs != ref.Name && !m.Names.Renamed(ref.Name):
			return m.idle("upstream", ref.String(), "expected {body."+theirs+"}, the API's name")
		}
	}
	if m.Kind != resource.List {
		return nil
	}
	for _, name := range parameters {
		if !m.call.Has(rpc.Query, name) {
			return m.idle("list", name, "expected {query."+name+"} in the parameters of the call "+m.Route.RPC.Method)
		}
	}
	if r.List.Follows() {
		return m.idle("list", "paginate local", "expected no cursor besides, since the API is called by RPC")
	}
	return nil
}
