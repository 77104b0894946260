package mapping

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/gatehouse/gatehouse/module/rest/envelope"
	"github.com/gatehouse/gatehouse/module/rest/list"
	"github.com/gatehouse/gatehouse/module/rest/resource"
	"github.com/gatehouse/gatehouse/module/rest/supply"
)

// buildQuery sets the upstream's parameters, or refuses the client's.
func (req request) buildQuery(up *Upstream, a Asked, asked url.Values) *envelope.Refusal {
	own := make(url.Values)
	if req.Kind == resource.List {
		q, refused := req.Resource.List.Parse(asked)
		if refused != nil {
			return refused
		}
		up.List = &q
		if refused := req.seekCursor(up, a, asked); refused != nil {
			return refused
		}
		q.Send(own)
	} else {
		var refused *envelope.Refusal
		if own, refused = req.translateQuery(asked); refused != nil {
			return refused
		}
	}
	if req.call != nil || req.readsByBody() {
		up.parameters = own
		if req.call != nil && req.Kind != resource.List {
			return req.checkParametersSent(own)
		}
		return nil
	}
	own, refused := req.text.encodeQuery(own)
	up.addQuery(own)
	return refused
}

// parameters returns the parameters that an operation without a declared list is known to pass on.
func (c *Config) parameters() []list.Name {
	names := c.Resource.Query
	if c.ListLike && len(c.Resource.Routes) == 0 {
		names = slices.Clone(names)
		for _, name := range resource.ConventionalParameters {
			if name != "state" || !c.Names.Hides(name) { // whoever filters by it learns it
				names = append(names, list.Name{Name: name})
			}
		}
	}
	return names
}

// PassedOn returns the parameters that an operation without a declared list is known to pass on. If nothing is declared
// of the resource, it passes others too.
func (m *Mapping) PassedOn() (names []string) {
	if m.Kind == resource.List || m.Kind == resource.Batch {
		return nil
	}
	for _, n := range m.known {
		names = append(names, n.Name)
	}
	return names
}

// mostBesideAdded is how many values of parameters a client may send where the gateway adds some behind them: Lua in
// nginx (ngx.req.get_uri_args) reads only the first hundred, PHP and others the first thousand.
const mostBesideAdded = 80

// refuseMany refuses a query so long that the upstream might not read what the gateway adds at its end.
func (m *Mapping) refuseMany(asked url.Values) *envelope.Refusal {
	if !m.addsToQuery {
		return nil
	}
	n := 0
	for _, values := range asked {
		n += len(values)
	}
	if n <= mostBesideAdded {
		return nil
	}
	return envelope.Refuse(http.StatusBadRequest, "the query has too many parameters")
}

// translateQuery returns the parameters to pass on, by the upstream's names.
func (m *Mapping) translateQuery(asked url.Values) (url.Values, *envelope.Refusal) {
	names, all := m.known, m.Resource.IsConventional()
	theirs := make(url.Values, len(asked))
	if refused := m.refuseMany(asked); refused != nil {
		return nil, refused
	}
	for _, name := range slices.Sorted(maps.Keys(asked)) {
		i := slices.IndexFunc(names, func(n list.Name) bool { return n.Name == name })
		switch {
		case m.inQuery.Has(name):
			return nil, envelope.Invalid(name, supply.SetByGateway)
		case resource.OverridesByQuery(name):
			return nil, envelope.Invalid(name, resource.NotOverridable)
		case i < 0 && !all:
			return nil, envelope.Invalid(name, "is not a parameter of this address")
		case i < 0 && m.overlapsInQuery(name):
			return nil, envelope.Invalid(name, supply.SetByGateway)
		case i < 0:
			theirs[name] = asked[name]
		case len(asked[name]) > 1:
			return nil, envelope.Invalid(name, "must not be given more than once")
		case asked.Get(name) == "" && i >= len(m.Resource.Query): // those that are declared may be empty, as WMS requires
			return nil, envelope.Invalid(name, "must not be empty")
		case asked.Get(name) != "" && !list.IsText(asked.Get(name)):
			return nil, envelope.Invalid(name, fmt.Sprintf("must be a text of at most %d bytes without control characters", list.MaxText))
		default:
			theirs.Set(names[i].Their(), asked.Get(name))
		}
	}
	return theirs, m.translateSort(theirs)
}

// translateSort writes the fields of a sort that no configuration has declared by the upstream's names.
func (c *Config) translateSort(theirs url.Values) *envelope.Refusal {
	declared := slices.ContainsFunc(c.Resource.Query, func(n list.Name) bool { return n.Their() == "sort" })
	if !c.ListLike || declared || !theirs.Has("sort") {
		return nil
	}
	fields := strings.Split(theirs.Get("sort"), ",")
	for i, field := range fields {
		their, ok := c.Names.SortField(field)
		if !ok {
			return envelope.Invalid("sort", "must name members of this list, with - in front for descending order")
		}
		fields[i] = their
	}
	theirs.Set("sort", strings.Join(fields, ","))
	return nil
}

// ByCursor reports whether clients page through the list with cursors, so that Asked needs a Sealer.
func (m *Mapping) ByCursor() bool { return m.Kind == resource.List && m.Resource.List.ByCursor() }

// cursorScope returns what a cursor is bound to: the declared list, its parents, and the client's other parameters. It
// is invalid anywhere else.
func (req request) cursorScope(q *list.Query, asked url.Values) []byte {
	parts := []string{req.Pattern.Text, req.upstream, req.template.Text, q.Bound(asked)}
	if req.placed != nil {
		for _, member := range req.placed.Members() {
			parts = append(parts, member.Name, member.Value)
		}
	}
	for _, c := range req.Resource.List.Cursors {
		parts = append(parts, c.Parameter, c.Pointer)
	}
	bound, _ := json.Marshal(append(parts, req.values...)) // strings always encode
	return bound
}

// seekCursor moves the query of a list to the page of the client's cursor.
func (req request) seekCursor(up *Upstream, a Asked, asked url.Values) *envelope.Refusal {
	if !req.ByCursor() || a.Sealer == nil {
		return nil
	}
	bound := req.cursorScope(up.List, asked)
	up.Sealer, up.Bound = a.Sealer, bound
	return up.List.Seek(a.Sealer, bound)
}
