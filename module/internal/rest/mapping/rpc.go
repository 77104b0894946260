package mapping

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"slices"

	"github.com/gatehouse/gatehouse/module/internal/rest/rpc"
	"github.com/gatehouse/gatehouse/module/rest/envelope"
	"github.com/gatehouse/gatehouse/module/rest/resource"
	"github.com/gatehouse/gatehouse/module/rest/validate"
)

// ByXMLRPC reports whether the upstream is called by XML-RPC.
func (m *Mapping) ByXMLRPC() bool { return m.call != nil && m.Route.RPC.Protocol == "xml" }

// CallsConfigured reports whether calls contain values of the configuration, which FillCall inserts.
func (m *Mapping) CallsConfigured() bool { return m.call != nil && len(m.call.Configured()) > 0 }

// FillCall inserts the values of the configuration: see [rpc.Template.Fill].
func (m *Mapping) FillCall(call []byte, value func(text string) (string, error)) ([]byte, error) {
	return m.call.Fill(call, m.ByXMLRPC(), value)
}

// ByRPC reports whether the upstream is called by RPC.
func (m *Mapping) ByRPC() bool { return m.call != nil }

// compileCall compiles a call by RPC.
func (m *Mapping) compileCall() error {
	r := m.Route
	if r.RPC == nil {
		return nil
	}
	switch {
	case r.RPC.Protocol != "" && r.RPC.Protocol != "json" && r.RPC.Protocol != "xml":
		return fmt.Errorf("rpc: unexpected protocol %s, expected json or xml", r.RPC.Protocol)
	case m.Resource.FromXML != nil:
		return errors.New("rpc: answers have a form of their own, expected no `from xml`")
	case r.As != "":
		return fmt.Errorf("rpc: unexpected as %s, expected one of both", r.As)
	case r.Override:
		return errors.New("rpc: unexpected override, expected none: every call is a POST")
	case r.UpstreamMethod != "" && r.UpstreamMethod != http.MethodPost:
		return fmt.Errorf("rpc: the upstream's method %s: expected POST or none", r.UpstreamMethod)
	}
	if err := rpc.CheckMethod(r.RPC.Method); err != nil {
		return fmt.Errorf("rpc: %w", err)
	}
	params, err := rpc.Parse(r.RPC.Params, m.Pattern.Names)
	if err != nil {
		return fmt.Errorf("rpc %s: %w", r.RPC.Method, err)
	}
	if r.RPC.Protocol == "xml" && !params.Listed() {
		return fmt.Errorf("xmlrpc %s: invalid parameters %s, expected a JSON array, since those of XML-RPC have no names", r.RPC.Method, r.RPC.Params)
	}
	for _, ref := range params.Refs() {
		if ref.Place == rpc.Body && (r.Method == http.MethodGet || r.Method == http.MethodDelete) {
			return fmt.Errorf("rpc %s: %s: a %s has no body, expected placeholders of the path or the query", r.RPC.Method, ref, r.Method)
		}
	}
	m.upstream, m.call = http.MethodPost, params
	return nil
}

// buildCall builds the body of a call.
func (req request) buildCall(up *Upstream, a Asked) *envelope.Refusal {
	up.Replaced = true
	up.Set["Content-Encoding"] = nil
	up.Set.Set("Content-Type", "application/json")
	var theirs members
	if req.ReadsBody() && (len(a.Body) > 0 || req.Kind != resource.Action) {
		var refused *envelope.Refusal
		if _, theirs, refused = req.readMembers(a); refused != nil {
			return refused
		}
		if refused := req.checkMembersSent(theirs); refused != nil {
			return refused
		}
	}
	values := rpc.Values{Partial: req.Kind == resource.Update, Most: mostSent(a.Body), Text: func(place rpc.Place, name string) (string, bool) {
		if place == rpc.Query {
			return up.parameters.Get(name), up.parameters.Has(name)
		}
		i := slices.Index(req.Pattern.Names, name)
		return req.values[i], true
	}, Member: func(name string) json.RawMessage {
		for _, member := range theirs {
			if member.Name == name {
				return member.Value
			}
		}
		return nil
	}}
	if theirs != nil {
		values.Whole = theirs.wrapped(req.Resource.Wrap).json()
	}
	encode := req.call.Encode
	if req.ByXMLRPC() {
		done, refused := takeTurn(a)
		if refused != nil {
			return refused
		}
		defer done()
		encode = req.call.EncodeXML
		up.Set.Set("Content-Type", "text/xml")
		up.Set.Set("Accept", "text/xml, application/xml;q=0.9")
	}
	body, err := encode(req.Route.RPC.Method, values)
	var bad *rpc.ValueError
	switch {
	case errors.As(err, &bad) && bad.Ref.Place == rpc.Path:
		return envelope.Refuse(http.StatusNotFound, "")
	case errors.As(err, &bad) && bad.Ref.Place == rpc.Query:
		return envelope.Invalid(req.Resource.ParameterName(bad.Ref.Name), bad.Why)
	case errors.As(err, &bad):
		return envelope.Invalid(req.Names.Ours(bad.Ref.Name), bad.Why)
	case errors.Is(err, rpc.ErrLong):
		return tooLargeToSend()
	case err != nil:
		return envelope.Refuse(http.StatusBadRequest, "the request has a control character, or a number beyond 64 bits, which cannot be sent")
	}
	if up.Body = body; !req.ByXMLRPC() {
		up.Body = req.text.encodeJSON(body)
	}
	return nil
}

// checkMembersSent refuses members that the call does not send: the client would believe that they were stored.
func (m *Mapping) checkMembersSent(theirs members) *envelope.Refusal {
	if m.call.Has(rpc.Body, "") {
		return nil
	}
	for _, member := range theirs {
		if !m.call.Has(rpc.Body, member.Name) {
			return envelope.Invalid(m.Names.Ours(member.Name), validate.UnknownField)
		}
	}
	return nil
}

// checkParametersSent refuses parameters that the call does not send.
func (m *Mapping) checkParametersSent(theirs url.Values) *envelope.Refusal {
	for _, name := range slices.Sorted(maps.Keys(theirs)) {
		if !m.call.Has(rpc.Query, name) {
			return envelope.Invalid(m.Resource.ParameterName(name), "is not a parameter of this address")
		}
	}
	return nil
}

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
