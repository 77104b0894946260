package validate

import (
	"bytes"
	"encoding/json"
	"unicode/utf8"

	"github.com/gatehouse/gatehouse/module/rest/envelope"
)

// MaxDepth is how deep a body may be nested.
const MaxDepth = 128

// Member is a member of an object, its value as the client wrote it.
type Member struct {
	Name  string
	Value json.RawMessage
}

// Object are the members of a body in their order. Names are decoded and occur once.
type Object []Member

// Get is the value of a member, nil when there is none.
func (o Object) Get(name string) json.RawMessage {
	for _, m := range o {
		if m.Name == name {
			return m.Value
		}
	}
	return nil
}

// Parse reads the body of a request. What two readers could understand differently is
// refused, on any level: members that occur twice, halves of surrogate pairs, numbers out
// of all proportion, and anything after the object. A field is named as in [Field].
func Parse(body []byte) (Object, *envelope.Refusal) {
	if !utf8.Valid(body) {
		return nil, envelope.Refuse(400, "the body is not UTF-8")
	}
	if !json.Valid(body) {
		if tooDeep(body) {
			return nil, envelope.Refuse(400, "the body is nested too deeply")
		}
		return nil, envelope.Refuse(400, "the body is not valid JSON")
	}
	text := bytes.TrimLeft(body, " \t\r\n")
	if text[0] != '{' {
		return nil, envelope.Refuse(400, "the body must be a JSON object")
	}
	w := walker{text: text}
	if refused := w.value(); refused != nil {
		return nil, refused
	}
	return w.top, nil
}

// tooDeep tells a body that is nested deeper than encoding/json reads from one that is no
// JSON, for the sake of the message. Brackets in strings are counted too.
func tooDeep(body []byte) bool {
	const limit = 10_000 // of encoding/json
	return bytes.Count(body, []byte("{"))+bytes.Count(body, []byte("[")) > limit
}
