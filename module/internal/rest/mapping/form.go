package mapping

import (
	"bytes"
	"encoding/json"
	"mime/multipart"
	"net/http"
	"net/url"
	"strconv"

	"github.com/gatehouse/gatehouse/module/internal/rest/fieldnames"
	"github.com/gatehouse/gatehouse/module/rest/envelope"
	"github.com/gatehouse/gatehouse/module/rest/resource"
)

// A form repeats with each value all names that lead to it: from 512 KiB of names and as much of values below, a body
// of 1 MiB would become many gigabytes. Small bodies may grow by more: an element of two bytes is a part of 150.
const (
	freeForm   = 1 << 20
	formGrowth = 16
)

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
	if as == "multipart" {
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
		f := fields{text: d, name: []byte(member.Name), add: add}
		if resource.UnfitForForms(member.Name) {
			return media, nil, envelope.Invalid(member.Name, fieldnames.UnknownField)
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
	text  *json.Decoder
	name  []byte // of the value, with those it is nested in
	add   func(name []byte, value string) bool
	unfit bool // a name was found that would mean another one
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
			if f.unfit = resource.UnfitForForms(at); f.unfit {
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
