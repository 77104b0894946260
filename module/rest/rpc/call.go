package rpc

import (
	"encoding/json"
	"fmt"
	"regexp"
)

// Values are what the placeholders of one call stand for.
type Values struct {
	// Text is a value of the path or a parameter; ok says that there is one.
	Text func(Place, string) (value string, ok bool)
	// Member is a member of the body, nil for none.
	Member func(name string) json.RawMessage
	// Whole is the body, nil for none.
	Whole json.RawMessage
	// Partial says that a member which is not there is not meant to be changed: it must not
	// become null in a list.
	Partial bool
}

// ValueError is a value with which there is no call.
type ValueError struct {
	Ref Ref
	Why string
}

func (e *ValueError) Error() string { return fmt.Sprintf("%s %s", e.Ref, e.Why) }

var whole = regexp.MustCompile(`^(0|-?[1-9][0-9]{0,17})$`)

// id is that of every call: over HTTP an answer belongs to its request, and has it to show that
// it is the answer to a call.
const id = "1"

// Encode writes a call of JSON-RPC 2.0.
func (t *Template) Encode(method string, v Values) ([]byte, error) {
	b := append([]byte(`{"jsonrpc":"2.0","method":`), quote(method)...)
	if t.root != nil {
		var err error
		b = append(b, `,"params":`...)
		if b, err = t.root.append(b, v); err != nil {
			return nil, err
		}
	}
	return append(b, `,"id":`+id+`}`...), nil
}

// append writes a value. A member of an object whose placeholder stands for nothing is left out;
// in a list, where places count, it is null.
func (n *node) append(b []byte, v Values) ([]byte, error) {
	switch {
	case n.ref != nil:
		value, err := v.of(*n.ref)
		switch {
		case err != nil:
			return nil, err
		case value == nil && n.ref.Place == Body && n.ref.Name == "":
			value = json.RawMessage("{}")
		case value == nil && n.ref.Place == Body && v.Partial:
			return nil, &ValueError{*n.ref, "is missing: the service behind the gateway takes it by its place"}
		case value == nil:
			value = json.RawMessage("null")
		}
		return append(b, value...), nil
	case n.literal != nil:
		return append(b, n.literal...), nil
	}
	return n.appendAll(b, v)
}

func (n *node) appendAll(b []byte, v Values) (_ []byte, err error) {
	open, end := byte('['), byte(']')
	if n.object {
		open, end = '{', '}'
	}
	b = append(b, open)
	first := true
	for i := range n.values {
		value := &n.values[i]
		if n.object && value.ref != nil && (value.ref.Place != Body || value.ref.Name != "") {
			known, err := v.of(*value.ref)
			if err != nil {
				return nil, err
			}
			if known == nil {
				continue
			}
		}
		if !first {
			b = append(b, ',')
		}
		first = false
		if n.object {
			b = append(append(b, quote(n.names[i])...), ':')
		}
		if b, err = value.append(b, v); err != nil {
			return nil, err
		}
	}
	return append(b, end), nil
}

// of is the value of a placeholder as JSON, nil for none.
func (v Values) of(r Ref) (json.RawMessage, error) {
	if r.Place == Body {
		if r.Name == "" {
			return v.Whole, nil
		}
		return v.Member(r.Name), nil
	}
	text, ok := v.Text(r.Place, r.Name)
	switch {
	case !ok:
		return nil, nil
	case !r.Int:
		return quote(text), nil
	case !whole.MatchString(text):
		return nil, &ValueError{r, "must be a whole number"}
	}
	return json.RawMessage(text), nil
}
