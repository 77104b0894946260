package mapping

import (
	"mime"
	"net/http"
	"strings"

	"github.com/gatehouse/gatehouse/module/internal/rest/fieldnames"
	"github.com/gatehouse/gatehouse/module/internal/rest/xmljson"
	"github.com/gatehouse/gatehouse/module/rest/envelope"
	"github.com/gatehouse/gatehouse/module/rest/resource"
	"github.com/gatehouse/gatehouse/module/rest/validate"
)

// buildBody checks the client's body, and translates it for the upstream. query is that of the upstream's address.
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
	limit := freeForm + formGrowth*len(a.Body)
	switch req.Route.As {
	case "form", "multipart":
		if theirs.passesToken(object) {
			return nil, envelope.TokenInForm()
		}
		if refused := theirs.checkAgainstQuery(object, query); refused != nil {
			return nil, refused
		}
		media, body, refused := theirs.placedWith(placed, wrap).form(req.Route.As, limit, req.text.encode)
		set.Set("Content-Type", media)
		return body, refused
	case "xml":
		body, refused := req.encodeXML(theirs, limit)
		if refused == nil && wrap != "" { // first without, so that a refusal names the member
			body, refused = req.encodeXML(theirs.wrapped(wrap), limit)
		}
		set.Set("Content-Type", "application/xml")
		return body, refused
	}
	set.Set("Content-Type", "application/json")
	body := a.Body
	if req.Names.ChangeBodies() || req.Resource.Wrap != "" || len(placed) > 0 {
		body = theirs.placedWith(placed, wrap).json()
	}
	return req.text.encodeJSON(body), nil
}

// encodeXML returns members as a document.
func (m *Mapping) encodeXML(theirs members, limit int) ([]byte, *envelope.Refusal) {
	document, member, fault := xmljson.Encode(m.Route.XMLRoot, theirs.each, limit)
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
		if refused := m.refuseReserved(member.Name); refused != nil {
			return nil, nil, refused
		}
		if m.reserved.HasInside(member.Name) && strings.ContainsAny(string(member.Value[:1]), "{[") {
			if member.Name == "" {
				return nil, nil, envelope.Refuse(http.StatusBadRequest, "the body has a member without a name")
			}
			return nil, nil, envelope.Invalid(member.Name, fieldnames.UnknownField)
		}
	}
	if refused := m.Rules.Check(object, m.Kind == resource.Update || m.Kind == resource.Delete); refused != nil {
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
			return nil, nil, envelope.Invalid(object[i].Name, setByGateway)
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
