package xmljson

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"
)

// Writer writes a document, in ASCII: all other characters are references.
type Writer struct {
	b bytes.Buffer
	// what cannot be written
	fault string
}

// Begin begins a document with its outermost element, and the attributes among the members
// of an object: those whose names begin with @. Their values must be scalars.
func Begin(root string) *Writer {
	w := new(Writer)
	w.b.WriteString(`<?xml version="1.0"?><` + root)
	return w
}

// Attribute writes an attribute of the outermost element. It returns "" or says what is wrong.
func (w *Writer) Attribute(name string, value json.RawMessage) string {
	w.fault = ""
	w.attribute(name, decoded(value))
	return w.fault
}

// Content ends the attributes.
func (w *Writer) Content() { w.b.WriteByte('>') }

// Member writes a member as an element, or as several if it is a list. It returns "" or says
// what is wrong with it.
func (w *Writer) Member(name string, value json.RawMessage) string {
	w.fault = ""
	w.member(name, decoded(value), 1)
	return w.fault
}

// End ends the document.
func (w *Writer) End(root string) []byte {
	w.b.WriteString("</" + root + ">")
	return w.b.Bytes()
}

// Len is how much was written.
func (w *Writer) Len() int { return w.b.Len() }

// object keeps the order of its members.
type object []struct {
	name  string
	value any
}

// decoded is a valid JSON value: nil, bool, json.Number, string, []any or object.
func decoded(raw json.RawMessage) any {
	d := json.NewDecoder(bytes.NewReader(raw))
	d.UseNumber()
	return next(d)
}

func next(d *json.Decoder) any {
	t, _ := d.Token() // the text is valid
	switch t {
	case json.Delim('['):
		list := []any{}
		for d.More() {
			list = append(list, next(d))
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
			}{text, next(d)})
		}
		_, _ = d.Token()
		return o
	}
	return t
}

func (w *Writer) member(name string, value any, depth int) {
	if name == "#text" {
		w.scalar(value)
		return
	}
	if !IsName(name) {
		w.fault = "has a name that no element of XML can have"
		return
	}
	if list, ok := value.([]any); ok {
		for _, v := range list {
			if _, nested := v.([]any); nested {
				w.fault = "has a list in a list, which XML does not have"
				return
			}
			w.member(name, v, depth)
		}
		return
	}
	if depth > maxDepth {
		w.fault = fmt.Sprintf("is nested in more than %d levels", maxDepth)
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

func (w *Writer) attribute(name string, value any) {
	if !IsName(name) || strings.HasPrefix(strings.ToLower(name), "xml") {
		w.fault = "has a name that no attribute of XML can have"
		return
	}
	w.b.WriteString(" " + name + `="`)
	w.scalar(value)
	w.b.WriteByte('"')
}

func (w *Writer) scalar(value any) {
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

// escaped writes a text so that no character of it is read as markup.
func (w *Writer) escaped(text string) {
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
