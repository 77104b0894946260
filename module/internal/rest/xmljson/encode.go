package xmljson

import (
	"bytes"
	"encoding/json"
	"fmt"
	"iter"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/gatehouse/gatehouse/module/internal/rest/splice"
)

// Encode encodes the members of a JSON object as the content of the element root, or of an element wrap in that, in ASCII
// with character references. A member @name becomes an attribute, a list several elements. If a member cannot be encoded,
// fault says why. If the document exceeds limit bytes, it is nil.
//
// It reads the text of the members twice and keeps nothing but the document: see buildSized.
func Encode(root, wrap string, object iter.Seq2[string, json.RawMessage], limit int) (document []byte, member, fault string) {
	document, _ = buildSized(limit, func(b *buffer) bool {
		w := writer{b: b}
		member = w.document(root, wrap, object)
		fault = w.fault
		return fault == ""
	})
	if fault == "" {
		member = ""
	}
	return document, member, fault
}

// writer writes a document. fault says what cannot be written. Its methods report false when there is no more to do: after a
// fault, and when the document is full.
type writer struct {
	b     *buffer
	fault string
}

func (w *writer) fail(fault string) bool {
	w.fault = fault
	return false
}

// document returns the member at which it ended.
func (w *writer) document(root, wrap string, object iter.Seq2[string, json.RawMessage]) (member string) {
	depth := 1
	w.b.put(`<?xml version="1.0"?><` + root)
	if wrap != "" {
		if !IsName(wrap) {
			w.fail(noElement)
			return wrap
		}
		depth++
		w.b.put("><" + wrap)
	}
	for name, value := range object {
		if attribute, ok := strings.CutPrefix(name, "@"); ok && !w.attribute(attribute, value) {
			return name
		}
	}
	w.b.put(">")
	for name, value := range object {
		if strings.HasPrefix(name, "@") {
			continue
		}
		c := content{Tokens: splice.TokensOf(value), attributes: bytes.IndexByte(value, '@') >= 0 || bytes.Contains(value, []byte(`\u0040`))}
		if !w.member([]byte(name), &c, depth) {
			return name
		}
	}
	if wrap != "" {
		w.b.put("</" + wrap + ">")
	}
	w.b.put("</" + root + ">")
	return ""
}

// content is a value that is written. Without attributes, no member in it is one.
type content struct {
	splice.Tokens
	attributes bool
}

const noElement = "has a name that no element of XML can have"

// member writes the value that is next as the member of this name.
func (w *writer) member(name []byte, c *content, depth int) bool {
	switch {
	case string(name) == "#text":
		return w.scalar(c.Next())
	case !IsName(name):
		return w.fail(noElement)
	case c.Peek() != '[':
		return w.element(name, c, depth)
	}
	for c.Next(); c.Peek() != ']'; {
		if c.Peek() == '[' {
			return w.fail("has a list in a list, which XML does not have")
		}
		if !w.element(name, c, depth) {
			return false
		}
	}
	c.Next()
	return true
}

// element writes an element. Each one of a list repeats the name, which may be long, so a document that is too long is
// not finished.
func (w *writer) element(name []byte, c *content, depth int) bool {
	switch {
	case depth > maxDepth:
		return w.fail(fmt.Sprintf("is nested in more than %d levels", maxDepth))
	case w.b.isFull():
		return false
	}
	w.b.put("<")
	w.b.write(name)
	if !w.inside(c, depth) {
		return false
	}
	w.b.put("</")
	w.b.write(name)
	w.b.put(">")
	return true
}

// inside writes the attributes and the content of an element.
func (w *writer) inside(c *content, depth int) bool {
	if c.Peek() != '{' {
		w.b.put(">")
		return w.scalar(c.Next())
	}
	c.Next()
	if c.attributes && !w.attributesOf(c.Tokens) {
		return false
	}
	w.b.put(">")
	for c.Peek() != '}' {
		name := splice.Text(c.Next())
		if bytes.HasPrefix(name, []byte("@")) {
			c.Skip()
			continue
		}
		if !w.member(name, c, depth+1) {
			return false
		}
	}
	c.Next()
	return true
}

// attributesOf writes the attributes among the members that follow. An element begins with them, wherever they stand.
func (w *writer) attributesOf(members splice.Tokens) bool {
	for members.Peek() != '}' {
		name := splice.Text(members.Next())
		if !bytes.HasPrefix(name, []byte("@")) {
			members.Skip()
			continue
		}
		if !w.attribute(string(name[1:]), members.Next()) {
			return false
		}
	}
	return true
}

// attribute writes an attribute. Its value may be the first token of one that none can have.
func (w *writer) attribute(name string, value []byte) bool {
	if !IsName(name) || strings.HasPrefix(strings.ToLower(name), "xml") {
		return w.fail("has a name that no attribute of XML can have")
	}
	w.b.put(" " + name + `="`)
	if !w.scalar(value) {
		return false
	}
	w.b.put(`"`)
	return true
}

// scalar writes a text, number, true, false or null, of which nothing is written.
func (w *writer) scalar(token []byte) bool {
	switch token[0] {
	case 'n':
	case '"':
		return w.escaped(splice.Text(token))
	case '{', '[':
		return w.fail("must be a text, a number, true, false or null here")
	default:
		w.b.write(token)
	}
	return true
}

func (w *writer) escaped(text []byte) bool {
	if !writeText(w.b, text) {
		return w.fail("has a character that XML does not have")
	}
	return true
}

// writeText writes a text, in ASCII, so that no character is read as markup. It reports false for a text that XML cannot
// contain.
func writeText(b *buffer, text []byte) bool {
	for {
		n := 0
		for n < len(text) && isPlain(text[n]) {
			n++
		}
		b.write(text[:n])
		if n == len(text) {
			return true
		}
		c, size := utf8.DecodeRune(text[n:])
		if c < ' ' && c != '\t' && c != '\n' && c != '\r' || c == utf8.RuneError || c == 0xfffe || c == 0xffff {
			return false
		}
		var reference [16]byte
		b.write(append(strconv.AppendInt(append(reference[:0], "&#"...), int64(c), 10), ';'))
		text = text[n+size:]
	}
}

func isPlain(c byte) bool {
	return ' ' <= c && c < 0x7f && c != '<' && c != '>' && c != '&' && c != '"' && c != '\''
}

// Text escapes a text for XML, in ASCII. It reports false for a text that XML cannot contain.
func Text(text string) (escaped string, ok bool) {
	var b buffer
	ok = writeText(&b, []byte(text))
	return string(b.text), ok
}
