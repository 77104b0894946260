package webui

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// Bounds of the display of one body. Schemas come from files and may be recursive.
const (
	maxFields     = 100
	maxFieldDepth = 4
	maxExample    = 4 << 10
	maxMerges     = 1000 // schemas that are read for one body
)

// apiBody is a body as a table of its fields, with an example.
type apiBody struct {
	Fields  []apiField
	Example string
	Schemas []string // that the body refers to
}

// apiField is a row of the table. Name is the name of an outermost member, and a JSON Pointer
// below, as in the errors of the API.
type apiField struct {
	Name, Type, Description string
	Required, ReadOnly      bool
}

// apiSchemaText is the part of a schema that is read.
type apiSchemaText struct {
	Ref                  string `json:"$ref"`
	Type                 any
	Properties           map[string]json.RawMessage
	Required             []string
	Items                json.RawMessage
	AllOf, AnyOf, OneOf  []json.RawMessage
	Enum                 []any
	Const, Default       any
	Example              any
	Examples             []any
	Format, Description  string
	Minimum, Maximum     json.Number
	MinLength, MaxLength json.Number
	ReadOnly             bool
}

// merged is what several schemas together say about one value.
type merged struct {
	apiSchemaText
	properties map[string][]json.RawMessage
	items      []json.RawMessage
}

const schemaPrefix = "#/components/schemas/"

// describeBody makes the table and the example of a schema. Members that are read-only are omitted from what is
// sent.
func (d *apiDocument) describeBody(raw json.RawMessage, sent bool) apiBody {
	b := apiBody{Schemas: referredSchemas(raw)}
	d.merges = 0
	d.addRows(&b, "", []json.RawMessage{raw}, 0, sent)
	if len(b.Fields) == 0 {
		return b
	}
	if example, ok := d.exampleValue([]json.RawMessage{raw}, 0, sent); ok {
		var text bytes.Buffer
		if json.Indent(&text, example, "", "  ") == nil && text.Len() <= maxExample {
			b.Example = text.String()
		}
	}
	return b
}

// mergeSchemas reads schemas that all apply to a value, with those that they refer to, and the first of alternatives.
func (d *apiDocument) mergeSchemas(all []json.RawMessage) merged {
	m := merged{properties: make(map[string][]json.RawMessage)}
	seen := make(map[string]bool)
	for ; len(all) > 0 && d.merges < maxMerges; d.merges++ {
		var s apiSchemaText
		decoder := json.NewDecoder(bytes.NewReader(all[0]))
		decoder.UseNumber()
		all = slices.Clone(all[1:])
		if decoder.Decode(&s) != nil {
			continue // true or false
		}
		if name, ok := strings.CutPrefix(s.Ref, schemaPrefix); ok && !seen[name] {
			seen[name] = true
			all = append(all, d.Components.Schemas[name])
		}
		all = append(all, s.AllOf...)
		for _, choice := range [][]json.RawMessage{s.AnyOf, s.OneOf} {
			if len(choice) > 0 {
				all = append(all, choice[0])
			}
		}
		m.addSchema(s)
	}
	return m
}

// addSchema adds what another schema says. Earlier schemas take precedence.
func (m *merged) addSchema(s apiSchemaText) {
	for name, p := range s.Properties {
		m.properties[name] = append(m.properties[name], p)
	}
	if s.Items != nil {
		m.items = append(m.items, s.Items)
	}
	m.Required = append(m.Required, s.Required...)
	m.ReadOnly = m.ReadOnly || s.ReadOnly
	for _, v := range []struct{ to, from *any }{{&m.Type, &s.Type}, {&m.Const, &s.Const}, {&m.Default, &s.Default}, {&m.Example, &s.Example}} {
		if *v.to == nil {
			*v.to = *v.from
		}
	}
	for _, v := range []struct{ to, from *json.Number }{{&m.Minimum, &s.Minimum}, {&m.Maximum, &s.Maximum}, {&m.MinLength, &s.MinLength}, {&m.MaxLength, &s.MaxLength}} {
		if *v.to == "" {
			*v.to = *v.from
		}
	}
	for _, v := range []struct{ to, from *string }{{&m.Format, &s.Format}, {&m.Description, &s.Description}} {
		if *v.to == "" {
			*v.to = *v.from
		}
	}
	if m.Enum == nil {
		m.Enum = s.Enum
	}
	if m.Examples == nil {
		m.Examples = s.Examples
	}
}

// typeName returns the type, the first of several that is not null, or "".
func (m *merged) typeName() string {
	types, ok := m.Type.([]any)
	if !ok {
		types = []any{m.Type}
	}
	for _, t := range types {
		if text, ok := t.(string); ok && text != "null" {
			return text
		}
	}
	switch {
	case len(m.properties) > 0:
		return "object"
	case len(m.items) > 0:
		return "array"
	}
	return ""
}

// constraints returns the type, the bounds and the default in symbols that need no translation: `integer 1..100 =
// 20`, `a | b`.
func (m *merged) constraints() string {
	var words []string
	switch {
	case len(m.Enum) > 0:
		var all []string
		for _, v := range m.Enum {
			all = append(all, fmt.Sprint(v))
		}
		words = append(words, strings.Join(all, " | "))
	case m.typeName() != "":
		words = append(words, m.typeName())
	}
	if m.Format != "" {
		words = append(words, m.Format)
	}
	for _, bounds := range [][2]json.Number{{m.Minimum, m.Maximum}, {m.MinLength, m.MaxLength}} {
		if bounds[0]+bounds[1] != "" {
			words = append(words, string(bounds[0])+".."+string(bounds[1]))
		}
	}
	if m.Default != nil {
		words = append(words, "= "+fmt.Sprint(m.Default))
	}
	return strings.Join(words, " ")
}

var pointerToken = strings.NewReplacer("~", "~0", "/", "~1")

// addRows adds the fields of the value at a pointer.
func (d *apiDocument) addRows(b *apiBody, at string, all []json.RawMessage, depth int, sent bool) {
	if depth > maxFieldDepth {
		return
	}
	m := d.mergeSchemas(all)
	if m.typeName() == "array" && len(m.items) > 0 {
		d.addRows(b, at+"/0", m.items, depth+1, sent)
	}
	for _, name := range slices.Sorted(maps.Keys(m.properties)) {
		of := d.mergeSchemas(m.properties[name])
		if sent && of.ReadOnly {
			continue
		}
		if len(b.Fields) == maxFields {
			return
		}
		shown, pointer := name, at+"/"+pointerToken.Replace(name)
		if at != "" {
			shown = pointer
		}
		b.Fields = append(b.Fields, apiField{shown, of.constraints(), of.Description, slices.Contains(m.Required, name), of.ReadOnly})
		d.addRows(b, pointer, m.properties[name], depth+1, sent)
	}
}

// exampleValue returns a JSON value that the schemas permit, as far as they can be read; false
// if there is no finite one.
func (d *apiDocument) exampleValue(all []json.RawMessage, depth int, sent bool) ([]byte, bool) {
	m := d.mergeSchemas(all)
	for _, v := range append(slices.Clone(m.Examples), m.Example, m.Default, m.Const) {
		if v != nil {
			text, err := json.Marshal(v)
			return text, err == nil
		}
	}
	switch {
	case len(m.Enum) > 0:
		text, err := json.Marshal(m.Enum[0])
		return text, err == nil
	case depth > maxFieldDepth:
		return nil, false
	}
	switch m.typeName() {
	case "object":
		return d.exampleObject(m, depth, sent)
	case "array":
		if item, ok := d.exampleValue(m.items, depth+1, sent); ok {
			return slices.Concat([]byte("["), item, []byte("]")), true
		}
		return []byte("[]"), true
	case "integer", "number":
		switch {
		case m.Minimum != "":
			return []byte(m.Minimum), true
		case strings.HasPrefix(string(m.Maximum), "-"), m.Maximum == "0":
			return []byte(m.Maximum), true
		}
		return []byte("1"), true
	case "boolean":
		return []byte("true"), true
	}
	text, err := json.Marshal(m.exampleText())
	return text, err == nil
}

func (d *apiDocument) exampleObject(m merged, depth int, sent bool) ([]byte, bool) {
	b := []byte{'{'}
	for i, name := range slices.Sorted(maps.Keys(m.properties)) {
		if i == maxFields {
			break
		}
		if sent && d.mergeSchemas(m.properties[name]).ReadOnly {
			continue
		}
		value, ok := d.exampleValue(m.properties[name], depth+1, sent)
		quoted, err := json.Marshal(name)
		if !ok || err != nil {
			continue
		}
		if len(b) > 1 {
			b = append(b, ',')
		}
		if b = slices.Concat(b, quoted, []byte{':'}, value); len(b) > maxExample {
			return nil, false
		}
	}
	return append(b, '}'), true
}

// formats has an example of each known format.
var formats = map[string]string{
	"date": "2026-11-21", "date-time": "2026-11-21T18:00:00Z", "email": "ann@example.com", "uri": "https://example.com/file",
	"uri-reference": "/articles/7", "uuid": "0197c8a5-5c1e-7d1a-9b1f-2f6d3c8e4a10",
}

// exampleText returns an example of a text with a permitted length.
func (m *merged) exampleText() string {
	if example := formats[m.Format]; example != "" {
		return example
	}
	text := "text"
	if least, err := m.MinLength.Int64(); err == nil && least > int64(len(text)) {
		text = strings.Repeat("text", int(min(least, 256))/4+1)[:min(least, 256)]
	}
	if most, err := m.MaxLength.Int64(); err == nil && most >= 0 && most < int64(len(text)) {
		text = text[:most]
	}
	return text
}
