package mapping

import (
	"mime"
	"net/http"
	"strings"

	"github.com/gatehouse/gatehouse/module/internal/rest/fieldnames"
	"github.com/gatehouse/gatehouse/module/rest/envelope"
	"github.com/gatehouse/gatehouse/module/rest/resource"
	"github.com/gatehouse/gatehouse/module/rest/validate"
)

// buildBody checks the client's body, and translates it for the upstream. query is the query of the
// upstream's address.
func (req request) buildBody(a Asked, query string, set http.Header) ([]byte, *envelope.Refusal) {
	m := req.op
	empty := len(a.Body) == 0 && (m.Kind == resource.Action || m.Kind == resource.Delete)
	if empty && m.placed == nil {
		set["Content-Type"] = nil
		return nil, nil
	}
	var object validate.Object
	var theirs members
	placed, refused := req.placedMembers(nil)
	if refused == nil && !empty {
		object, theirs, refused = req.op.readMembers(a)
	}
	if refused != nil {
		return nil, refused
	}
	set["Content-Encoding"] = nil
	wrap := m.Resource.Wrap
	if empty {
		wrap = "" // it would be an object without members
	}
	if m.Route.As == "form" || m.Route.As == "multipart" {
		if theirs.passesToken(object) {
			return nil, envelope.TokenInForm()
		}
		if refused := theirs.checkAgainstQuery(object, query); refused != nil {
			return nil, refused
		}
		media, body, refused := theirs.placedWith(placed, wrap).form(m.Route.As, freeForm+formGrowth*len(a.Body), m.text.encode)
		if refused != nil {
			return nil, refused
		}
		set.Set("Content-Type", media)
		return body, nil
	}
	if m.Route.As == "xml" {
		limit := freeForm + formGrowth*len(a.Body)
		body, refused := m.xml(theirs, m.Route.XMLRoot, limit)
		if refused == nil && wrap != "" { // once without, so that a refusal names the member
			body, refused = m.xml(theirs.wrapped(wrap), m.Route.XMLRoot, limit)
		}
		set.Set("Content-Type", "application/xml")
		return body, refused
	}
	set.Set("Content-Type", "application/json")
	body := a.Body
	if m.Names.ChangeBodies() || m.Resource.Wrap != "" || len(placed) > 0 {
		body = theirs.placedWith(placed, wrap).json()
	}
	return m.text.encodeJSON(body), nil
}

// readMembers checks the client's body, and returns it with its own names and with the upstream's.
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
		if m.reserved.Has(member.Name) { // which the client knows by another name
			return nil, nil, envelope.Invalid(object[i].Name, setByGateway)
		}
	}
	if refused := m.text.checkEncodable(theirs); refused != nil {
		return nil, nil, refused
	}
	return object, theirs, nil
}

// Accepts checks the media type of a body that the gateway reads.
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

// checkComplete refuses a PUT without one of the declared fields: the field would be lost, or would
// stay as it was.
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
