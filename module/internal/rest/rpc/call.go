package rpc

import (
	"encoding/json"
	"fmt"
	"regexp"

	"github.com/gatehouse/gatehouse/module/internal/rest/splice"
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
	// Most is how many bytes of XML a call may have: `1e308` becomes a number of 309 digits. Default:
	// any number.
	Most int
}

// ValueError is a value with which there is no call.
type ValueError struct {
	Ref Ref
	Why string
}

func (e *ValueError) Error() string { return fmt.Sprintf("%s %s", e.Ref, e.Why) }

// whole is a whole number that 64 bits hold.
var whole = regexp.MustCompile(`^(0|-?[1-9][0-9]{0,17})$`)

// id is that of every call: over HTTP an answer belongs to its request, and has it to show that
// it is the answer to a call.
const id = "1"

// Encode writes a call of JSON-RPC 2.0.
func (t *Template) Encode(method string, v Values) ([]byte, error) {
	e := new(encoder)
	e.b.WriteString(`{"jsonrpc":"2.0","method":` + string(splice.Quote(method)))
	if t.root != nil {
		e.b.WriteString(`,"params":`)
		if err := t.root.write(e, v); err != nil {
			return nil, err
		}
	}
	e.b.WriteString(`,"id":` + id + `}`)
	return e.b.Bytes(), nil
}

// EncodeXML writes a call of XML-RPC. The parameters are Listed. The error for a call that is longer than
// the values permit is [ErrLong].
func (t *Template) EncodeXML(method string, v Values) ([]byte, error) {
	e := &encoder{xml: true, most: v.Most}
	e.b.WriteString(`<?xml version="1.0"?><methodCall><methodName>` + method + `</methodName><params>`) // CheckMethod permits no markup
	if t.root != nil {
		for i := range t.root.values {
			e.b.WriteString("<param>")
			if err := t.root.values[i].write(e, v); err != nil {
				return nil, err
			}
			e.b.WriteString("</param>")
		}
	}
	e.b.WriteString(`</params></methodCall>`)
	return e.b.Bytes(), nil
}

// Object writes the parameters alone, which are an object: `{}` for none. A member whose value the request does not
// have is left out.
func (t *Template) Object(v Values) ([]byte, error) {
	if t.root == nil {
		return []byte("{}"), nil
	}
	e := new(encoder)
	err := t.root.write(e, v)
	return e.b.Bytes(), err
}

// write writes a value. A member of an object whose placeholder stands for nothing is left out; in a list, whose
// elements are known by their place, it is null.
func (n *node) write(to *encoder, v Values) error {
	switch {
	case n.ref != nil && n.ref.Place == configured:
		to.mark(string(n.ref.mark()))
		return nil
	case n.ref != nil:
		value, err := v.of(*n.ref)
		switch {
		case err != nil:
			return err
		case value == nil && n.ref.Place == Body && n.ref.Name == "":
			value = json.RawMessage("{}")
		case value == nil && n.ref.Place == Body && v.Partial:
			return &ValueError{*n.ref, "is missing: the service behind the gateway takes it by its place"}
		case value == nil:
			value = json.RawMessage("null")
		}
		return to.value(value)
	case n.literal != nil:
		return to.value(n.literal)
	}
	to.open(n.object)
	for i := range n.values {
		value := &n.values[i]
		if !n.object {
			if err := value.write(to, v); err != nil {
				return err
			}
			continue
		}
		absent, err := value.absent(v)
		if err == nil && !absent {
			err = to.member(n.names[i], func() error { return value.write(to, v) })
		}
		if err != nil {
			return err
		}
	}
	to.end(n.object)
	return nil
}

// absent reports whether a placeholder stands for nothing. The whole body is always something.
func (n *node) absent(v Values) (bool, error) {
	if n.ref == nil || n.ref.Place == configured || n.ref.Place == Body && n.ref.Name == "" {
		return false, nil
	}
	value, err := v.of(*n.ref)
	return value == nil, err
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
	case !r.integer:
		return splice.Quote(text), nil
	case !whole.MatchString(text):
		return nil, &ValueError{r, "must be a whole number"}
	}
	return json.RawMessage(text), nil
}
