package splice

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"testing"
)

// value is a JSON value as encoding/json reads it, with its members in order and all
// of those that are repeated.
type value struct {
	kind    Kind
	text    string
	names   []string
	members []*value // or elements
}

func parse(t testing.TB, text []byte) *value {
	t.Helper()
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber()
	return parseNext(t, d)
}

func parseNext(t testing.TB, d *json.Decoder) *value {
	t.Helper()
	token, err := d.Token()
	if err != nil {
		t.Fatal(err)
	}
	switch token := token.(type) {
	case string:
		return &value{kind: String, text: token}
	case json.Number:
		return &value{kind: Number, text: string(token)}
	case bool:
		return &value{kind: Bool, text: strconv.FormatBool(token)}
	case nil:
		return &value{kind: Null, text: "null"}
	}
	v := &value{kind: Object}
	if token == json.Delim('[') {
		v.kind = Array
	}
	for d.More() {
		if v.kind == Object {
			name, err := d.Token()
			if err != nil {
				t.Fatal(err)
			}
			v.names = append(v.names, name.(string))
		}
		v.members = append(v.members, parseNext(t, d))
	}
	if _, err := d.Token(); err != nil {
		t.Fatal(err)
	}
	return v
}

func (v *value) String() string {
	switch v.kind {
	case Array:
		return fmt.Sprint(v.members)
	case Object:
		var b bytes.Buffer
		for i, name := range v.names {
			fmt.Fprintf(&b, "%q:%v,", name, v.members[i])
		}
		return "{" + b.String() + "}"
	}
	return fmt.Sprintf("%s %q", v.kind, v.text)
}

// find follows a pointer, of repeated members to the last. repeated says that a
// member on the way has a name twice.
func (v *value) find(p Pointer) (found *value, repeated bool) {
	if len(p) == 0 {
		return v, false
	}
	switch v.kind {
	case Array:
		if i, err := strconv.Atoi(p[0]); err == nil && i >= 0 && i < len(v.members) && strconv.Itoa(i) == p[0] {
			return v.members[i].find(p[1:])
		}
	case Object:
		for i, name := range v.names {
			if name == p[0] {
				again := found != nil || repeated
				var below bool
				found, below = v.members[i].find(p[1:])
				repeated = again || below || slices.Contains(v.names[:i], name)
			}
		}
	}
	return found, repeated
}

func (v *value) scalar(longest int) Scalar {
	switch {
	case v == nil:
		return Scalar{}
	case v.kind == Object || v.kind == Array:
		return Scalar{Kind: v.kind, Empty: len(v.members) == 0}
	case len(v.text) > longest:
		return Scalar{Long: true}
	}
	return Scalar{Kind: v.kind, Text: v.text}
}

// expected does with decoded values what an editor does with bytes.
func expected(t testing.TB, c Config, root *value) *value {
	t.Helper()
	if !c.List {
		return root.resource(t, c)
	}
	out := &value{kind: Array}
	for i, m := range root.members {
		if i >= c.skip && (c.take == 0 || i < c.skip+c.take) {
			out.members = append(out.members, m.resource(t, c))
		}
	}
	return out
}

func (v *value) resource(t testing.TB, c Config) *value {
	t.Helper()
	if v.kind != Object {
		return v
	}
	out := &value{kind: Object}
	for i, name := range v.names {
		m := v.members[i]
		if s, ok := c.Values[name][m.text]; ok && m.kind != Object && m.kind != Array {
			m = &value{kind: String, text: s}
		}
		to, renamed := c.Rename[name]
		taken := false
		for _, other := range c.Rename {
			taken = taken || other == name
		}
		switch {
		case renamed:
			name = to
		case taken || slices.Contains(c.Drop, name):
			continue
		}
		out.names, out.members = append(out.names, name), append(out.members, m)
	}
	if c.Append != nil {
		id, _ := v.find(c.ID)
		if len(c.ID) == 0 {
			id = nil
		}
		if more := c.Append(nil, id.scalar(1000)); len(more) > 0 {
			added := parse(t, slices.Concat([]byte("{"), more, []byte("}")))
			out.names, out.members = append(out.names, added.names...), append(out.members, added.members...)
		}
	}
	return out
}
