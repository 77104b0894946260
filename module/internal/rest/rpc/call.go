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
		to := &jsonCall{b: append(b, `,"params":`...)}
		if err := t.root.write(to, v); err != nil {
			return nil, err
		}
		b = to.b
	}
	return append(b, `,"id":`+id+`}`...), nil
}

// encoder writes the values of a call in one form.
type encoder interface {
	open(object bool)
	name(name string) error // of the next value, in an object
	endName()               // that value was written
	value(json.RawMessage) error
	mark([]byte) // of a configured value
	end(object bool)
}

// write writes a value. A member of an object whose placeholder stands for nothing is left out;
// in a list, where places count, it is null.
func (n *node) write(to encoder, v Values) error {
	switch {
	case n.ref != nil && n.ref.Place == Configured:
		to.mark(n.ref.mark())
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
		if n.object {
			if absent, err := value.absent(v); err != nil {
				return err
			} else if absent {
				continue
			}
			if err := to.name(n.names[i]); err != nil {
				return err
			}
		}
		if err := value.write(to, v); err != nil {
			return err
		}
		if n.object {
			to.endName()
		}
	}
	to.end(n.object)
	return nil
}

// absent reports whether a placeholder stands for nothing. The whole body is always something.
func (n *node) absent(v Values) (bool, error) {
	if n.ref == nil || n.ref.Place == Configured || n.ref.Place == Body && n.ref.Name == "" {
		return false, nil
	}
	value, err := v.of(*n.ref)
	return value == nil, err
}

// jsonCall writes JSON.
type jsonCall struct{ b []byte }

// separate puts a comma behind another value.
func (j *jsonCall) separate() {
	switch j.b[len(j.b)-1] {
	case '[', '{', ':':
	default:
		j.b = append(j.b, ',')
	}
}

func (j *jsonCall) open(object bool) {
	j.separate()
	if object {
		j.b = append(j.b, '{')
	} else {
		j.b = append(j.b, '[')
	}
}

func (j *jsonCall) name(name string) error {
	j.separate()
	j.b = append(append(j.b, quote(name)...), ':')
	return nil
}

func (*jsonCall) endName() {}

func (j *jsonCall) value(value json.RawMessage) error {
	j.separate()
	j.b = append(j.b, value...)
	return nil
}

func (j *jsonCall) mark(mark []byte) {
	j.separate()
	j.b = append(j.b, mark...)
}

func (j *jsonCall) end(object bool) {
	if object {
		j.b = append(j.b, '}')
	} else {
		j.b = append(j.b, ']')
	}
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
