package resource

import (
	"bytes"
	"encoding/json"
	"maps"
	"mime"
	"net/http"
	"slices"
	"strings"

	"github.com/gatehouse/gatehouse/module/rest/envelope"
	"github.com/gatehouse/gatehouse/module/rest/validate"
)

// body checks the client's and says it in the upstream's words. query is what stands in
// the upstream's address.
func (m Match) body(a Asked, query string, set http.Header) ([]byte, *envelope.Refusal) {
	o := m.Operation
	empty := len(a.Body) == 0 && (o.Kind == Action || o.Kind == Delete)
	if empty && o.placed == nil {
		set["Content-Type"] = nil
		return nil, nil
	}
	var object validate.Object
	var theirs members
	placed, refused := m.place(nil)
	if refused == nil && !empty {
		object, theirs, refused = m.members(a)
	}
	if refused != nil {
		return nil, refused
	}
	set["Content-Encoding"] = nil
	wrap := o.shape.config.Wrap
	if empty {
		wrap = "" // it would be an object without members
	}
	if o.as == "form" || o.as == "multipart" {
		if theirs.passesToken(object) {
			return nil, envelope.TokenInForm()
		}
		if refused := theirs.aside(object, query); refused != nil {
			return nil, refused
		}
		media, body, refused := theirs.placedWith(placed, wrap).form(o.as, freeForm+formGrowth*len(a.Body), o.shape.encode)
		if refused != nil {
			return nil, refused
		}
		set.Set("Content-Type", media)
		return body, nil
	}
	if o.as == "xml" {
		limit := freeForm + formGrowth*len(a.Body)
		body, refused := o.shape.xml(theirs, o.xmlRoot, limit)
		if refused == nil && wrap != "" { // once without, so that a refusal names the member
			body, refused = o.shape.xml(theirs.wrapped(wrap), o.xmlRoot, limit)
		}
		set.Set("Content-Type", "application/xml")
		return body, refused
	}
	set.Set("Content-Type", "application/json")
	body := a.Body
	if o.shape.changesBody() || len(placed) > 0 {
		body = theirs.placedWith(placed, wrap).json()
	}
	return o.shape.encodeJSON(body), nil
}

// members checks the client's body, and returns it in its own names and in the upstream's.
func (m Match) members(a Asked) (object validate.Object, theirs members, refused *envelope.Refusal) {
	o := m.Operation
	if refused := o.accepts(a.Header); refused != nil {
		return nil, nil, refused
	}
	if object, refused = validate.Parse(a.Body); refused != nil {
		return nil, nil, refused
	}
	for _, member := range object {
		if refused := o.setHere(member.Name); refused != nil {
			return nil, nil, refused
		}
		if o.reserved.HasInside(member.Name) && strings.ContainsAny(string(member.Value[:1]), "{[") {
			if member.Name == "" {
				return nil, nil, envelope.Refuse(http.StatusBadRequest, "the body has a member without a name")
			}
			return nil, nil, envelope.Invalid(member.Name, noField)
		}
	}
	if refused := o.shape.rules.Check(object, o.Kind == Update || o.Kind == Delete); refused != nil {
		return nil, nil, refused
	}
	if refused := o.whole(object); refused != nil {
		return nil, nil, refused
	}
	if theirs, refused = o.shape.translate(object); refused != nil {
		return nil, nil, refused
	}
	for i, member := range theirs {
		if o.reserved.Has(member.Name) { // which the client knows by another name
			return nil, nil, envelope.Invalid(object[i].Name, setByGateway)
		}
	}
	if refused := o.shape.encodable(theirs); refused != nil {
		return nil, nil, refused
	}
	return object, theirs, nil
}

func (s *shape) changesBody() bool {
	return len(s.names) > 0 || len(s.words) > 0 || s.config.Wrap != ""
}

// accepts looks at the type of the body.
func (o *Operation) accepts(h http.Header) *envelope.Refusal {
	media, params, err := mime.ParseMediaType(h.Get("Content-Type"))
	charset := strings.ToLower(params["charset"])
	known := media == "application/json" || media == "application/merge-patch+json" && o.Kind == Update
	if err == nil && known && (charset == "" || charset == "utf-8" || charset == "utf8") && h.Get("Content-Encoding") == "" {
		return nil
	}
	r := envelope.Refuse(http.StatusUnsupportedMediaType, "the body must be application/json")
	switch o.Method {
	case http.MethodPatch:
		r.Header = http.Header{"Accept-Patch": {"application/json"}} // RFC 5789 section 3.1
	case http.MethodPost:
		r.Header = http.Header{"Accept-Post": {"application/json"}}
	}
	return r
}

// whole is for PUT, which replaces: what it does not carry would be lost, or kept.
func (o *Operation) whole(object validate.Object) *envelope.Refusal {
	if o.Kind != Replace {
		return nil
	}
	for _, field := range o.Resource.Replace {
		if object.Get(field) == nil {
			return envelope.Invalid(field, "is missing: a PUT carries every field, a PATCH some of them")
		}
	}
	return nil
}

// members are a body in the upstream's names.
type members validate.Object

// passesToken reports whether a member that the client called access_token would have that
// name in a form too. A configuration may call another member so.
func (m members) passesToken(object validate.Object) bool {
	return slices.ContainsFunc(m, func(member validate.Member) bool {
		return alike(member.Name) == "access_token" && object.Get(member.Name) != nil
	})
}

func (s *shape) translate(object validate.Object) (members, *envelope.Refusal) {
	theirs := make(members, 0, len(object))
	for _, m := range object {
		if m.Name == methodMember {
			return nil, envelope.Invalid(m.Name, "must not be there: the method of a request cannot be overridden")
		}
		if s.config.readOnly(m.Name) {
			return nil, envelope.Invalid(m.Name, "cannot be written")
		}
		name, renamed := s.config.Rename[m.Name]
		if s.isTheirs(m.Name) && !renamed {
			return nil, envelope.Invalid(m.Name, noField) // it would stand beside the renamed one
		}
		if s.disguised(m.Name) {
			return nil, envelope.Invalid(m.Name, noField)
		}
		if !renamed {
			name = m.Name
		}
		value := m.Value
		if words, ok := s.config.Values[m.Name]; ok && string(value) != "null" {
			var word string
			if json.Unmarshal(value, &word) != nil {
				return nil, noWord(m.Name, words)
			}
			text, ok := words[word]
			if !ok {
				return nil, noWord(m.Name, words)
			}
			value = literalOf(text)
		}
		theirs = append(theirs, validate.Member{Name: name, Value: value})
	}
	return theirs, nil
}

// noWord refuses a value that is none of the words declared for it, and lists them.
func noWord(field string, words map[string]string) *envelope.Refusal {
	return envelope.Invalid(field, "must be one of: "+strings.Join(slices.Sorted(maps.Keys(words)), ", "))
}

// literalOf writes an upstream's value as it most likely does itself: 1 is a number.
func literalOf(text string) json.RawMessage {
	if json.Valid([]byte(text)) && text[0] != '{' && text[0] != '[' && text[0] != '"' {
		return json.RawMessage(text)
	}
	return quoted(text)
}

func quoted(text string) []byte {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	_ = e.Encode(text) // a string always encodes
	return bytes.TrimSuffix(b.Bytes(), []byte("\n"))
}

func (m members) json() []byte {
	b := []byte{'{'}
	for i, member := range m {
		if i > 0 {
			b = append(b, ',')
		}
		b = append(b, quoted(member.Name)...)
		b = append(b, ':')
		b = append(b, member.Value...)
	}
	return append(b, '}')
}
