package validate

import (
	"bytes"
	"encoding/json"
	"strconv"

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
// refused: members that occur twice, on any level, and anything after the object.
func Parse(body []byte) (Object, *envelope.Refusal) {
	if !json.Valid(body) {
		return nil, envelope.Refuse(400, "The body is not valid JSON.")
	}
	if trimmed := bytes.TrimSpace(body); trimmed[0] != '{' {
		return nil, envelope.Refuse(400, "The body must be a JSON object.")
	}
	if r := unique(json.NewDecoder(bytes.NewReader(body)), "", 0); r != nil {
		return nil, r
	}
	d := json.NewDecoder(bytes.NewReader(body))
	_, _ = d.Token() // the opening brace
	var o Object
	for d.More() {
		name, err := d.Token()
		if err != nil {
			return nil, envelope.Refuse(400, "The body is not valid JSON.")
		}
		m := Member{}
		m.Name, _ = name.(string)
		if err := d.Decode(&m.Value); err != nil {
			return nil, envelope.Refuse(400, "The body is not valid JSON.")
		}
		o = append(o, m)
	}
	return o, nil
}

// unique reads one value and refuses objects with a member twice.
func unique(d *json.Decoder, at string, depth int) *envelope.Refusal {
	if depth > MaxDepth {
		return envelope.Refuse(400, "The body is nested too deeply.")
	}
	t, err := d.Token()
	if err != nil {
		return envelope.Refuse(400, "The body is not valid JSON.")
	}
	switch t {
	case json.Delim('{'):
		seen := make(map[string]bool)
		for d.More() {
			name, err := d.Token()
			if err != nil {
				return envelope.Refuse(400, "The body is not valid JSON.")
			}
			text, _ := name.(string)
			member := text
			if at != "" {
				member = at + "/" + text
			}
			if seen[text] {
				return envelope.Invalid(member, "It is given twice.")
			}
			seen[text] = true
			if r := unique(d, member, depth+1); r != nil {
				return r
			}
		}
		_, _ = d.Token()
	case json.Delim('['):
		for i := 0; d.More(); i++ {
			if r := unique(d, at+"/"+strconv.Itoa(i), depth+1); r != nil {
				return r
			}
		}
		_, _ = d.Token()
	}
	return nil
}
