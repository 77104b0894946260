package xmljson

import (
	"bytes"
	"encoding/json"
	"fmt"
	"iter"
	"strconv"
	"strings"
	"unicode/utf8"
)

// Encode encodes the members of a JSON object as the content of the element root, in ASCII with character
// references. A member @name becomes an attribute, a list several elements. If a member cannot be encoded, fault
// says why. If the document exceeds limit bytes, it is nil.
func Encode(root string, object iter.Seq2[string, json.RawMessage], limit int) (document []byte, member, fault string) {
	w := writer{limit: limit}
	w.b.WriteString(`<?xml version="1.0"?><` + root)
	for name, value := range object {
		if attribute, ok := strings.CutPrefix(name, "@"); ok {
			if w.attribute(attribute, decoded(value)); w.fault != "" {
				return nil, name, w.fault
			}
		}
	}
	w.b.WriteByte('>')
	for name, value := range object {
		if strings.HasPrefix(name, "@") {
			continue
		}
		if w.member(name, decoded(value), 1); w.fault != "" {
			return nil, name, w.fault
		}
		if w.isFull() {
			return nil, "", ""
		}
	}
	w.b.WriteString("</" + root + ">")
	return w.b.Bytes(), "", ""
}

// writer writes a document. fault says what cannot be written.
type writer struct {
	b     bytes.Buffer
	fault string
	limit int // bytes after which no further element is begun
}

func (w *writer) isFull() bool { return w.b.Len() > w.limit }

// object is a JSON object with its members in order.
type object []struct {
	name  string
	value any
}

// decoded decodes a valid JSON value to nil, bool, json.Number, string, []any or object.
func decoded(raw json.RawMessage) any {
	d := json.NewDecoder(bytes.NewReader(raw))
	d.UseNumber()
	return decodeNext(d)
}

func decodeNext(d *json.Decoder) any {
	t, _ := d.Token() // the text is valid
	switch t {
	case json.Delim('['):
		list := []any{}
		for d.More() {
			list = append(list, decodeNext(d))
		}
		_, _ = d.Token()
		return list
	case json.Delim('{'):
		o := object{}
		for d.More() {
			name, _ := d.Token()
			text, _ := name.(string)
			o = append(o, struct {
				name  string
				value any
			}{text, decodeNext(d)})
		}
		_, _ = d.Token()
		return o
	}
	return t
}

func (w *writer) member(name string, value any, depth int) {
	list, isList := value.([]any)
	switch {
	case name == "#text":
		w.scalar(value)
	case !IsName(name):
		w.fault = "has a name that no element of XML can have"
	case isList:
		for _, v := range list {
			if _, nested := v.([]any); nested {
				w.fault = "has a list in a list, which XML does not have"
				return
			}
			w.element(name, v, depth)
		}
	default:
		w.element(name, value, depth)
	}
}

// element writes an element. Each one of a list repeats the name, which may be long, so a document that is too long is
// not finished.
func (w *writer) element(name string, value any, depth int) {
	switch {
	case depth > maxDepth:
		w.fault = fmt.Sprintf("is nested in more than %d levels", maxDepth)
		return
	case w.isFull():
		return
	}
	w.b.WriteString("<" + name)
	o, isObject := value.(object)
	for _, m := range o {
		if attribute, ok := strings.CutPrefix(m.name, "@"); ok {
			w.attribute(attribute, m.value)
		}
	}
	w.b.WriteByte('>')
	for _, m := range o {
		if !strings.HasPrefix(m.name, "@") {
			w.member(m.name, m.value, depth+1)
		}
	}
	if !isObject {
		w.scalar(value)
	}
	w.b.WriteString("</" + name + ">")
}

func (w *writer) attribute(name string, value any) {
	if !IsName(name) || strings.HasPrefix(strings.ToLower(name), "xml") {
		w.fault = "has a name that no attribute of XML can have"
		return
	}
	w.b.WriteString(" " + name + `="`)
	w.scalar(value)
	w.b.WriteByte('"')
}

func (w *writer) scalar(value any) {
	switch v := value.(type) {
	case nil:
	case bool:
		w.b.WriteString(strconv.FormatBool(v))
	case json.Number:
		w.b.WriteString(v.String())
	case string:
		w.escaped(v)
	default:
		w.fault = "must be a text, a number, true, false or null here"
	}
}

// escaped writes a text so that no character is read as markup.
func (w *writer) escaped(text string) {
	for _, c := range text {
		switch {
		case c < ' ' && c != '\t' && c != '\n' && c != '\r', c == utf8.RuneError, c == 0xfffe, c == 0xffff:
			w.fault = "has a character that XML does not have"
			return
		case c < ' ', c >= 0x7f, strings.ContainsRune(`<>&"'`, c):
			w.b.WriteString("&#" + strconv.Itoa(int(c)) + ";")
		default:
			w.b.WriteRune(c)
		}
	}
}

// Text escapes a text for XML, in ASCII. It reports false for a text that XML cannot contain.
func Text(text string) (escaped string, ok bool) {
	var w writer
	w.escaped(text)
	return w.b.String(), w.fault == ""
}
