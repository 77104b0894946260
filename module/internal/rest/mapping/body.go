package mapping

import (
	"encoding/json"
	"fmt"
	"maps"
	"mime"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/gatehouse/gatehouse/module/internal/rest/splice"
	"github.com/gatehouse/gatehouse/module/internal/rest/xmljson"
	"github.com/gatehouse/gatehouse/module/rest/envelope"
	"github.com/gatehouse/gatehouse/module/rest/resource"
	"github.com/gatehouse/gatehouse/module/rest/supply"
	"github.com/gatehouse/gatehouse/module/rest/validate"
)

// buildBody checks the client's body, and translates it for the upstream. query is that of the address that it is sent to.
func (req request) buildBody(a Asked, query string, set http.Header) ([]byte, *envelope.Refusal) {
	empty := len(a.Body) == 0 && (req.Kind == resource.Action || req.Kind == resource.Delete)
	if empty && req.placed == nil {
		set["Content-Type"] = nil
		return nil, nil
	}
	var object validate.Object
	var theirs members
	placed, refused := req.placedMembers(nil)
	if refused == nil && !empty {
		object, theirs, refused = req.readMembers(a)
	}
	if refused != nil {
		return nil, refused
	}
	set["Content-Encoding"] = nil
	wrap := req.Resource.Wrap
	if empty {
		wrap = "" // it would be an object without members
	}
	switch req.Route.As {
	case "form", "multipart":
		if theirs.passesToken(object) {
			return nil, envelope.TokenInForm()
		}
		if refused := theirs.checkAgainstQuery(object, query, wrap); refused != nil {
			return nil, refused
		}
		if refused := req.checkFields(object); refused != nil {
			return nil, refused
		}
		done, refused := takeTurn(a)
		if refused != nil {
			return nil, refused
		}
		defer done()
		// PHP and others read only the first thousand values of a form.
		media, body, refused := theirs.placedWith(placed, wrap, true).form(req.Route.As, mostInForm(a.Body), req.text.encode)
		set.Set("Content-Type", media)
		return body, refused
	case "xml":
		done, refused := takeTurn(a)
		if refused != nil {
			return nil, refused
		}
		defer done()
		body, refused := req.encodeXML(theirs, wrap, mostSent(a.Body))
		set.Set("Content-Type", "application/xml")
		return body, refused
	}
	set.Set("Content-Type", "application/json")
	body := a.Body
	if req.Names.ChangeBodies() || req.Resource.Wrap != "" || len(placed) > 0 {
		body = theirs.placedWith(placed, wrap, false).json()
	}
	return req.text.encodeJSON(body), nil
}

// encodeXML returns members as a document, in an element wrap unless that is "".
func (m *Mapping) encodeXML(theirs members, wrap string, limit int) ([]byte, *envelope.Refusal) {
	document, member, fault := xmljson.Encode(m.Route.XMLRoot, wrap, theirs.each, limit)
	switch {
	case fault != "":
		return nil, envelope.Invalid(m.Names.Ours(member), fault)
	case document == nil:
		return nil, tooLargeToSend()
	}
	return document, nil
}

// readMembers checks the client's body, and returns it with the client's names and with the upstream's.
func (m *Mapping) readMembers(a Asked) (object validate.Object, theirs members, refused *envelope.Refusal) {
	if refused := m.Accepts(a.Header); refused != nil {
		return nil, nil, refused
	}
	if object, refused = validate.Parse(a.Body); refused != nil {
		return nil, nil, refused
	}
	for _, member := range object {
		if m.reserved.Has(member.Name) || overlapsReserved(m, member) {
			return nil, nil, envelope.Invalid(member.Name, supply.SetByGateway)
		}
		if m.reserved.CouldHideIn(member.Name) && strings.ContainsAny(string(member.Value[:1]), "{[") {
			if member.Name == "" {
				return nil, nil, envelope.Refuse(http.StatusBadRequest, "the body has a member without a name")
			}
			return nil, nil, envelope.Invalid(member.Name, validate.UnknownField)
		}
		if refused := m.refuseInside(member); refused != nil {
			return nil, nil, refused
		}
	}
	if refused := m.Rules.Check(a.Caller, a.Effort, object, m.Kind == resource.Update || m.Kind == resource.Delete); refused != nil {
		return nil, nil, refused
	}
	if refused := m.checkComplete(object); refused != nil {
		return nil, nil, refused
	}
	translated, refused := m.Names.ToUpstream(object)
	if refused != nil {
		return nil, nil, refused
	}
	theirs = members(translated)
	for i, member := range theirs {
		if m.reserved.Has(member.Name) { // the client has another name for it
			return nil, nil, envelope.Invalid(object[i].Name, supply.SetByGateway)
		}
	}
	if refused := m.text.checkEncodable(theirs); refused != nil {
		return nil, nil, refused
	}
	return object, theirs, nil
}

// Accepts refuses a body of a media type that the gateway does not read.
func (m *Mapping) Accepts(h http.Header) *envelope.Refusal {
	media, params, err := mime.ParseMediaType(h.Get("Content-Type"))
	charset := strings.ToLower(params["charset"])
	known := media == "application/json" || media == "application/merge-patch+json" && m.Kind == resource.Update
	if err == nil && known && (charset == "" || charset == "utf-8" || charset == "utf8") && h.Get("Content-Encoding") == "" {
		return nil
	}
	r := envelope.Refuse(http.StatusUnsupportedMediaType, "the body must be application/json")
	switch m.Route.Method {
	case http.MethodPatch:
		r.Header = http.Header{"Accept-Patch": {"application/json"}} // RFC 5789 section 3.1
	case http.MethodPost:
		r.Header = http.Header{"Accept-Post": {"application/json"}}
	}
	return r
}

// checkComplete refuses a PUT that lacks one of the declared fields: it would be lost, or stay as it was.
func (m *Mapping) checkComplete(object validate.Object) *envelope.Refusal {
	if m.Kind != resource.Replace {
		return nil
	}
	for _, field := range m.Resource.Replace {
		if object.Get(field) == nil {
			return envelope.Invalid(field, "is missing: a PUT carries every field, a PATCH some of them")
		}
	}
	return nil
}

// buildReadBody builds the body of a read: the members that the gateway places, and the parameters that have no
// placeholder in them.
func (req request) buildReadBody(up *Upstream) *envelope.Refusal {
	up.Replaced = true
	up.Set["Content-Encoding"] = nil
	placed, refused := req.placedMembers(up.parameters)
	if refused != nil {
		return refused
	}
	if _, refused := req.text.encodeQuery(up.parameters); refused != nil {
		return refused
	}
	rest := up.parameters
	if req.placed != nil {
		rest = maps.Clone(rest)
		for _, name := range req.placed.Parameters() {
			delete(rest, name)
		}
	}
	if req.Route.As == "json" {
		up.Set.Set("Content-Type", "application/json")
		up.Body = req.text.encodeJSON(append(placed, parameterMembers(req.Mapping, rest)...).json())
		return nil
	}
	media, body, refused := placed.form(req.Route.As, freeForm, req.text.encode)
	if refused != nil {
		return refused
	}
	rest, _ = req.text.encodeQuery(rest)
	if len(body) > 0 && len(rest) > 0 {
		body = append(body, '&')
	}
	up.Set.Set("Content-Type", media)
	up.Body = append(body, rest.Encode()...)
	return nil
}

// parameterMembers converts parameters to JSON members: page and element numbers to numbers, all others to strings.
func parameterMembers(m *Mapping, parameters url.Values) (all members) {
	var numbers []string
	if m.Kind == resource.List {
		numbers = m.Resource.List.Numbers()
	}
	for _, name := range slices.Sorted(maps.Keys(parameters)) {
		value := json.RawMessage(parameters.Get(name))
		if !slices.Contains(numbers, name) {
			value = splice.Quote(string(value))
		}
		all = append(all, validate.Member{Name: name, Value: value})
	}
	return all
}

// Next returns the request for the next part of a list that the upstream gives in several answers: the first request
// with the parameters of the next part.
func (m *Mapping) Next(values []string, first Upstream, next map[string]string) (Upstream, *envelope.Refusal) {
	parameters := make(url.Values, len(next))
	for name, value := range next {
		parameters.Set(name, value)
	}
	if m.readsByBody() {
		first.parameters = maps.Clone(first.parameters)
		maps.Copy(first.parameters, parameters)
		refused := request{m, values}.buildReadBody(&first)
		return first, refused
	}
	first.addQuery(parameters)
	return first, nil
}

// checkAs returns an error if the upstream's request cannot have the declared kind of body.
func checkAs(m *Mapping) error {
	switch {
	case m.Route.As == "":
	case m.Route.Method == http.MethodGet && m.Route.As != "form" && m.Route.As != "json":
		return fmt.Errorf("as %s: the parameters of a GET are not sent so, expected form or json", m.Route.As)
	case m.Route.Method == http.MethodGet && m.upstream != http.MethodPost:
		return fmt.Errorf("as %s: a GET has no body, expected POST in front of the API's address, and the parameters are sent in the body of that", m.Route.As)
	case m.Route.Method == http.MethodDelete && m.Route.As == "multipart":
		return fmt.Errorf("as %s: a %s has no such body, expected none of form, json, multipart and xml", m.Route.As, m.Route.Method)
	}
	return nil
}
