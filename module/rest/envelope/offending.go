package envelope

import (
	"bytes"
	"encoding/json"
	"strconv"

	"github.com/gatehouse/gatehouse/module/internal/rest/splice"
)

// fieldOf returns the name of the invalid parameter: the value at the pointer, the name of the
// first member of an object there, or the first element of an array. text is what the editor has
// seen.
func (r reading) fieldOf(e *splice.Editor, text []byte) string {
	if r.field < 0 {
		return ""
	}
	switch s := e.Captured(r.field); s.Kind {
	case splice.Object, splice.Array:
		if s.Empty {
			return ""
		}
		return firstName(text, r.fieldAt)
	}
	return textOf(e, r.field)
}

// firstName returns the name of the first member of the object at a pointer, or the first
// element of an array there if it is a string, and otherwise "". The text is that of an error,
// of which little is held.
func firstName(text []byte, at splice.Pointer) string {
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber()
	t, _ := d.Token()
	for _, step := range at {
		if !enter(d, t, step) {
			return ""
		}
		t, _ = d.Token()
	}
	if t != json.Delim('{') && t != json.Delim('[') {
		return ""
	}
	name, _ := d.Token() // a member's name, or an element
	first, _ := name.(string)
	return first
}

// enter moves to a member of an object or an element of an array. t is its opening token.
func enter(d *json.Decoder, t json.Token, step string) bool {
	for i := 0; d.More(); i++ {
		name := strconv.Itoa(i)
		if t == json.Delim('{') {
			key, _ := d.Token()
			name, _ = key.(string)
		} else if t != json.Delim('[') {
			return false
		}
		if name == step {
			return true
		}
		var skipped json.RawMessage
		if d.Decode(&skipped) != nil {
			return false
		}
	}
	return false
}
