package mapping

import (
	"bytes"
	"encoding/json"
	"mime/multipart"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/gatehouse/gatehouse/module/internal/rest/fieldnames"
	"github.com/gatehouse/gatehouse/module/internal/rest/splice"
	"github.com/gatehouse/gatehouse/module/rest/envelope"
	"github.com/gatehouse/gatehouse/module/rest/resource"
	"github.com/gatehouse/gatehouse/module/rest/supply"
	"github.com/gatehouse/gatehouse/module/rest/validate"
)

// members are the members of a body, by the upstream's names.
type members validate.Object

// each yields the names and values.
func (m members) each(yield func(string, json.RawMessage) bool) {
	for _, member := range m {
		if !yield(member.Name, member.Value) {
			return
		}
	}
}

func (m members) json() []byte {
	b := []byte{'{'}
	for i, member := range m {
		if i > 0 {
			b = append(b, ',')
		}
		b = append(append(b, splice.Quote(member.Name)...), ':')
		b = append(b, member.Value...)
	}
	return append(b, '}')
}

// wrapped returns the members as the content of one with this name, or unchanged for "".
func (m members) wrapped(name string) members {
	if name == "" {
		return m
	}
	return members{{Name: name, Value: m.json()}}
}

// passesToken reports whether a form would have an access_token from a member that the client calls so. A
// configuration may give that name to another member.
func (m members) passesToken(object validate.Object) bool {
	return slices.ContainsFunc(m, func(member validate.Member) bool {
		return fieldnames.Normalize(member.Name) == "access_token" && object.Get(member.Name) != nil
	})
}

// checkFields refuses members that an upstream would take for others when it reads them from a form.
func (req request) checkFields(object validate.Object) *envelope.Refusal {
	for _, member := range object {
		switch {
		case req.Names.IsDisguisedInForm(member.Name):
			return envelope.Invalid(member.Name, validate.UnknownField)
		case req.reserved.HasField(member.Name) && !req.Names.Declares(member.Name):
			return envelope.Invalid(member.Name, supply.SetByGateway)
		case strings.EqualFold(req.Resource.Their(member.Name), resource.CharsetField) && (req.Charset != nil || !strings.EqualFold(scalarText(member.Value), "utf-8")):
			return envelope.Invalid(member.Name, "must not name another charset than that of the form")
		}
	}
	return nil
}

// checkAgainstQuery refuses members that would replace a parameter of the upstream's address, or a part of one: `filter`
// beside `filter[x]=1`, and below the wrap article `state` beside `article[state]=draft`. Upstreams that read both as one
// (PHP's $_REQUEST) mostly prefer the body. Equal values are allowed: clients send back the id they were given.
func (m members) checkAgainstQuery(object validate.Object, rawQuery, wrap string) *envelope.Refusal {
	if rawQuery == "" {
		return nil
	}
	query, _ := url.ParseQuery(rawQuery) // the template has checked it
	given := make(map[string]parameter, len(query))
	for name, values := range query {
		p := parameter{name, values[0], !slices.ContainsFunc(values, func(v string) bool { return v != values[0] })}
		outer, inner, nested := strings.Cut(name, "[")
		switch {
		case wrap != "" && (!nested || fieldnames.Normalize(outer) != fieldnames.Normalize(wrap)):
			continue // the body has nothing beside wrap
		case wrap != "":
			step, rest, _ := strings.Cut(inner, "]")
			p.name, p.whole = step, p.whole && rest == ""
		case nested:
			p.name, p.whole = outer, false
		}
		at := fieldnames.Normalize(p.name)
		if other, twice := given[at]; twice && other != p {
			p.whole = false
		}
		given[at] = p
	}
	for i, member := range m {
		if p, ok := given[fieldnames.Normalize(member.Name)]; ok && !p.equals(member) {
			return envelope.Invalid(object[i].Name, supply.GivenByAddress)
		}
	}
	return nil
}

// parameter is one of the upstream's address. A member can be equal to one that is whole.
type parameter struct {
	name, value string
	whole       bool
}

func (p parameter) equals(m validate.Member) bool {
	return p.whole && m.Name == p.name && scalarText(m.Value) == p.value
}

func scalarText(value json.RawMessage) string {
	if value[0] != '"' {
		return string(value)
	}
	var text string
	_ = json.Unmarshal(value, &text) // it was parsed before
	return text
}

// A form repeats with each value all names that lead to it: from 512 KiB of names and as much of values below, a body
// of 1 MiB would become many gigabytes. Small bodies may grow by more: an element of two bytes is a part of 150.
const (
	freeForm   = 1 << 20
	formGrowth = 16
	// PHP reads nothing of a form of more than 8 MiB, not even the members that the gateway adds.
	largestForm       = 7 << 20
	largestFormGrowth = 3 // of larger bodies, as permitted by max_body; a byte becomes three when it is escaped
)

// mostSent is how many bytes a client's body may become where it is passed on in another form than JSON.
func mostSent(body []byte) int { return freeForm + formGrowth*len(body) }

// mostInForm is how many bytes a client's body may become as a form.
func mostInForm(body []byte) int {
	return min(mostSent(body), max(largestForm, largestFormGrowth*len(body)))
}

// form writes members as a form, `form` or `multipart`, with PHP's brackets for arrays and objects. It refuses a form
// of more than limit bytes, and names that would mean others in it. encode encodes names and values.
func (m members) form(as string, limit int, encode func(string) string) (media string, body []byte, refused *envelope.Refusal) {
	var b bytes.Buffer
	add := func(name []byte, value string) bool {
		if b.Len() > 0 {
			b.WriteByte('&')
		}
		b.WriteString(url.QueryEscape(encode(string(name))) + "=" + url.QueryEscape(encode(value)))
		return b.Len() <= limit
	}
	media = "application/x-www-form-urlencoded"
	isUnfit := resource.UnfitForForms
	if as == "multipart" {
		isUnfit = resource.UnfitForParts
		w := multipart.NewWriter(&b)
		add = func(name []byte, value string) bool {
			_ = w.WriteField(encode(string(name)), encode(value)) // cannot fail in memory
			return b.Len() <= limit
		}
		media = w.FormDataContentType()
		defer func() {
			if _ = w.Close(); refused == nil {
				body = b.Bytes()
			}
		}()
	}
	for _, member := range m {
		d := json.NewDecoder(bytes.NewReader(member.Value))
		d.UseNumber()
		f := fields{text: d, name: []byte(member.Name), add: add, isUnfit: isUnfit}
		if member.Name == "" { // Rack and qs read `[role]` as role
			return media, nil, envelope.Refuse(http.StatusBadRequest, "the body has a member without a name")
		}
		if isUnfit(member.Name) {
			return media, nil, envelope.Invalid(member.Name, validate.UnknownField)
		}
		if !f.value(f.next()) {
			if f.unfit {
				return media, nil, envelope.Invalid(member.Name, "has a name in it that cannot be passed on")
			}
			return media, nil, tooLargeToSend()
		}
	}
	return media, b.Bytes(), nil
}

func tooLargeToSend() *envelope.Refusal {
	return envelope.Refuse(http.StatusRequestEntityTooLarge, "the body is too large in the form in which it is passed on")
}

// fields writes a valid value, of any depth, in one pass.
type fields struct {
	text    *json.Decoder
	name    []byte // of the value, with those it is nested in
	add     func(name []byte, value string) bool
	isUnfit func(name string) bool
	unfit   bool // a name was found that would mean another one
}

func (f *fields) next() json.Token {
	t, _ := f.text.Token() // the text is valid
	return t
}

// value writes the value that begins with t. It reports false if there is too much.
func (f *fields) value(t json.Token) bool {
	switch t := t.(type) {
	case json.Delim:
		return f.nested(t == '[')
	case string:
		return f.add(f.name, t)
	case json.Number:
		return f.add(f.name, t.String())
	case bool:
		if t {
			return f.add(f.name, "1")
		}
		return f.add(f.name, "0")
	}
	return f.add(f.name, "")
}

func (f *fields) nested(array bool) bool {
	outer := len(f.name)
	for i := 0; f.text.More(); i++ {
		at, t := "", f.next()
		if _, deeper := t.(json.Delim); deeper {
			at = strconv.Itoa(i) // PHP counts scalar elements itself
		}
		if !array {
			at, _ = t.(string)
			if f.unfit = f.isUnfit(at); f.unfit {
				return false
			}
			t = f.next()
		}
		f.name = append(append(append(f.name[:outer], '['), at...), ']')
		if !f.value(t) {
			return false
		}
	}
	f.name = f.name[:outer]
	f.next() // its end
	return true
}
