package validate

import (
	"bytes"
	"encoding/json"
	"unicode/utf8"

	"github.com/gatehouse/gatehouse/module/rest/envelope"
)

// MaxDepth is the maximum nesting of a body.
const MaxDepth = 128

// Member is a member of an object with its value as the client wrote it.
type Member struct {
	Name  string
	Value json.RawMessage
}

// Object is the list of a body's members in their order. Names are decoded and unique.
type Object []Member

// Get returns the value of a member, or nil.
func (o Object) Get(name string) json.RawMessage {
	for _, m := range o {
		if m.Name == name {
			return m.Value
		}
	}
	return nil
}

// Parse parses the body of a request. It refuses, on any level, what two parsers could
// understand differently: duplicate members, unpaired surrogates, numbers of unreasonable size,
// and anything after the object. Fields are named as in [Field].
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

// tooDeep distinguishes, for the message, a body that is nested more deeply than encoding/json
// reads from one that is not JSON. Brackets in strings are counted, too.
func tooDeep(body []byte) bool {
	const limit = 10_000 // of encoding/json
	return bytes.Count(body, []byte("{"))+bytes.Count(body, []byte("[")) > limit
}
