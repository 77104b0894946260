package resource

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strconv"

	"github.com/gatehouse/gatehouse/module/internal/rest/rpc"
	"github.com/gatehouse/gatehouse/module/rest/envelope"
	"github.com/gatehouse/gatehouse/module/rest/supply"
)

// RPC is a call of an upstream that speaks JSON-RPC 2.0 or XML-RPC.
type RPC struct {
	// What the upstream speaks: `json` or `xml`. Default: `json`.
	Protocol string `json:"protocol,omitempty"`
	// The name of the method: `article.get`.
	Method string `json:"method"`
	// The parameters, a JSON array or object in which placeholders stand for values: `[{id}]`,
	// `{"id":{id|int},"title":{body.title}}`. There are those of the client's path as texts,
	// `{query.start}` for a parameter by the upstream's name, and both with `|int` as whole
	// numbers; `{body}` and `{body.title}` for the client's body and a member of it, by the
	// upstream's name. `{env.API_TOKEN}`, `{file./run/secrets/token}` and `{http.auth.user.id}` are
	// filled in for each call, in quotes too: `"token:{env.API_TOKEN}"`. A member whose value the
	// request does not have is left out; in an array it is null. Those of XML-RPC are an array.
	// Default: the call has no parameters.
	Params string `json:"params,omitempty"`
}

// call is an RPC, compiled.
type call struct {
	xml        bool
	method     string
	params     *rpc.Template
	configured bool // it has values of the configuration
}

// ByXMLRPC reports whether that is XML-RPC.
func (o *Operation) ByXMLRPC() bool { return o.call != nil && o.call.xml }

// CallsConfigured reports whether its calls have values of the configuration, which FillCall fills in.
func (o *Operation) CallsConfigured() bool { return o.call != nil && o.call.configured }

// FillCall fills in the values of the configuration: see [rpc.Template.Fill].
func (o *Operation) FillCall(call []byte, value func(text string) (string, error)) ([]byte, error) {
	return o.call.params.Fill(call, o.call.xml, value)
}

// ByRPC reports whether the upstream is called by RPC.
func (o *Operation) ByRPC() bool { return o.call != nil }

func (o *Operation) compileCall(r Route) error {
	if r.RPC == nil {
		return nil
	}
	switch {
	case r.RPC.Protocol != "" && r.RPC.Protocol != "json" && r.RPC.Protocol != "xml":
		return fmt.Errorf("rpc: unexpected protocol %s, expected json or xml", r.RPC.Protocol)
	case o.Resource.FromXML != nil:
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
	params, err := rpc.Parse(r.RPC.Params, o.pattern.Names)
	if err != nil {
		return fmt.Errorf("rpc %s: %w", r.RPC.Method, err)
	}
	byXML := r.RPC.Protocol == "xml"
	if byXML && !params.Listed() {
		return fmt.Errorf("xmlrpc %s: invalid parameters %s, expected a JSON array, since those of XML-RPC have no names", r.RPC.Method, r.RPC.Params)
	}
	for _, ref := range params.Refs() {
		if ref.Place == rpc.Body && (r.Method == http.MethodGet || r.Method == http.MethodDelete) {
			return fmt.Errorf("rpc %s: %s: a %s has no body, expected placeholders of the path or the query", r.RPC.Method, ref, r.Method)
		}
	}
	o.method, o.call = http.MethodPost, &call{byXML, r.RPC.Method, params, len(params.Configured()) > 0}
	return nil
}

// callRPC writes the call.
func (m Match) callRPC(up *Upstream, a Asked) *envelope.Refusal {
	o := m.Operation
	up.Replaced = true
	up.Set["Content-Encoding"] = nil
	up.Set.Set("Content-Type", "application/json")
	var theirs members
	if m.Reads() && (len(a.Body) > 0 || o.Kind != Action) {
		var refused *envelope.Refusal
		if _, theirs, refused = m.members(a); refused != nil {
			return refused
		}
		if refused := o.sendsAll(theirs); refused != nil {
			return refused
		}
	}
	values := rpc.Values{Partial: o.Kind == Update, Text: func(place rpc.Place, name string) (string, bool) {
		if place == rpc.Query {
			return up.parameters.Get(name), up.parameters.Has(name)
		}
		i := slices.Index(o.pattern.Names, name)
		return m.Values[i], true
	}, Member: func(name string) json.RawMessage {
		for _, member := range theirs {
			if member.Name == name {
				return member.Value
			}
		}
		return nil
	}}
	if theirs != nil {
		values.Whole = theirs.wrapped(o.shape.config.Wrap).json()
	}
	encode := o.call.params.Encode
	if o.call.xml {
		encode = o.call.params.EncodeXML
		up.Set.Set("Content-Type", "text/xml")
		up.Set.Set("Accept", "text/xml, application/xml;q=0.9")
	}
	body, err := encode(o.call.method, values)
	var bad *rpc.ValueError
	switch {
	case errors.As(err, &bad) && bad.Ref.Place == rpc.Path:
		return envelope.Refuse(http.StatusNotFound, "")
	case errors.As(err, &bad) && bad.Ref.Place == rpc.Query:
		return envelope.Invalid(o.Resource.ourParameter(bad.Ref.Name), bad.Why)
	case errors.As(err, &bad):
		return envelope.Invalid(o.shape.ours(bad.Ref.Name), bad.Why)
	case err != nil:
		return envelope.Refuse(http.StatusBadRequest, "the request has a control character, or a number beyond 64 bits, which cannot be sent")
	}
	if up.Body = body; !o.call.xml {
		up.Body = o.shape.encodeJSON(body)
	}
	return nil
}

// sendsAll refuses members that are no part of the call: the client would take them for written.
func (o *Operation) sendsAll(theirs members) *envelope.Refusal {
	if o.call.params.Has(rpc.Body, "") {
		return nil
	}
	for _, member := range theirs {
		if !o.call.params.Has(rpc.Body, member.Name) {
			return envelope.Invalid(o.shape.ours(member.Name), noField)
		}
	}
	return nil
}

// sendsQuery refuses parameters that are no part of the call.
func (o *Operation) sendsQuery(theirs url.Values) *envelope.Refusal {
	for _, name := range slices.Sorted(maps.Keys(theirs)) {
		if !o.call.params.Has(rpc.Query, name) {
			return envelope.Invalid(o.Resource.ourParameter(name), "is not a parameter of this address")
		}
	}
	return nil
}

// faults are the conditions under which an answer to a call is a failure, behind all others. See
// [rpc.Fault.Document].
func (o *Operation) faults() (all []envelope.FailWhen) {
	if o.call == nil {
		return nil
	}
	for _, status := range []int{http.StatusBadGateway, http.StatusUnprocessableEntity} {
		all = append(all, envelope.FailWhen{Pointer: "/" + rpc.Marker, Op: "==", Values: []string{strconv.Itoa(status)}, Status: status})
	}
	return all
}

// checkSupplied refuses parameters in a body that cannot have them.
func (o *Operation) checkSupplied(params []supply.Param) error {
	for _, p := range params {
		switch {
		case p.In != supply.Body:
		case o.as == "xml":
			return fmt.Errorf("send fixed: %s cannot be part of a body in XML, expected query or header, or operations without `as xml`", p.Name)
		case o.ByXMLRPC():
			return fmt.Errorf("send fixed: %s cannot be part of a call by XML-RPC, expected query or header, or operations without `xmlrpc`", p.Name)
		case o.call != nil && slices.Contains([]string{"jsonrpc", "method", "params", "id"}, p.Name):
			return fmt.Errorf("send fixed: %s is a member of every call by RPC, expected another name", p.Name)
		}
	}
	return nil
}

// idleCall finds a placeholder of a call that stands for nothing, and a parameter of the list
// that no call has.
func (s *shape) idleCall(o *Operation) *IdleError {
	r := s.config
	var parameters []string
	if o.Kind == List {
		parameters = r.List.Parameters()
	} else {
		for _, n := range r.Query {
			parameters = append(parameters, n.Their())
		}
	}
	for _, ref := range o.call.params.Refs() {
		theirs, renamed := r.Rename[ref.Name]
		switch {
		case ref.Place == rpc.Query && !slices.Contains(parameters, ref.Name):
			return &IdleError{r.Path, "upstream", ref.String(), "expected a parameter by the API's name, of `list` for the collection and of `query` for others"}
		case ref.Place == rpc.Body && ref.Name != "" && renamed && theirs != ref.Name && s.names[ref.Name] == "":
			return &IdleError{r.Path, "upstream", ref.String(), "expected {body." + theirs + "}, the API's name"}
		}
	}
	if o.Kind != List {
		return nil
	}
	for _, name := range parameters {
		if !o.call.params.Has(rpc.Query, name) {
			return &IdleError{r.Path, "list", name, "expected {query." + name + "} in the parameters of the call " + o.call.method}
		}
	}
	if o.Follows() {
		return &IdleError{r.Path, "list", "paginate local", "expected no cursor besides, since the API is called by RPC"}
	}
	return nil
}
