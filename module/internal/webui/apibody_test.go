package webui

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
)

// bodyOf reads a description with schemas, and makes the body of one of them.
func bodyOf(t *testing.T, schemas, schema string, sent bool) apiBody {
	t.Helper()
	var d apiDocument
	if err := json.Unmarshal([]byte(`{"components":{"schemas":`+schemas+`}}`), &d); err != nil {
		t.Fatal(err)
	}
	return d.describeBody(json.RawMessage(schema), sent)
}

func TestBodyTableHasAnExample(t *testing.T) {
	const schemas = `{"Input":{"type":"object","properties":{"title":{"type":"string","minLength":5,"maxLength":100},"state":{"enum":["open","done"]},"id":{"readOnly":true,"type":"integer"},
		"author":{"type":"object","properties":{"mail":{"type":"string","format":"email","description":"Where to write."}}},"tags":{"type":"array","items":{"type":"string"}}}}}`
	const schema = `{"allOf":[{"$ref":"#/components/schemas/Input"},{"required":["title"],"properties":{"author":{"required":["mail"]}}}]}`
	b := bodyOf(t, schemas, schema, true)
	var rows []string
	for _, f := range b.Fields {
		rows = append(rows, fmt.Sprint(f.Name, "|", f.Type, "|", f.Required, "|", f.Description))
	}
	if got := strings.Join(rows, "\n"); got != "author|object|false|\n/author/mail|string email|true|Where to write.\nstate|open | done|false|\ntags|array|false|\ntitle|string 5..100|true|" {
		t.Error(got)
	}
	var example map[string]any
	if err := json.Unmarshal([]byte(b.Example), &example); err != nil || fmt.Sprint(example) != "map[author:map[mail:ann@example.com] state:open tags:[text] title:textt]" {
		t.Errorf("%v %s", err, b.Example)
	}
	if fmt.Sprint(b.Schemas) != "[Input]" {
		t.Error(b.Schemas)
	}
	if answer := bodyOf(t, schemas, `{"$ref":"#/components/schemas/Input"}`, false); !strings.Contains(answer.Example, `"id": 1`) {
		t.Errorf("an answer without what is read only: %s", answer.Example)
	}
	if array := bodyOf(t, schemas, `{"type":"array","items":{"properties":{"op":{"const":"replace"}}}}`, true); array.Fields[0].Name != "/0/op" || strings.Join(strings.Fields(array.Example), "") != `[{"op":"replace"}]` {
		t.Errorf("%+v", array)
	}
	if nothing := bodyOf(t, schemas, `{"type":"object"}`, true); len(nothing.Fields) != 0 || nothing.Example != "" {
		t.Errorf("%+v", nothing)
	}
}

// Schemas come from files: they may be large, and refer to themselves.
func TestShownBodySizeIsLimited(t *testing.T) {
	b := bodyOf(t, `{"Tree":{"type":"object","properties":{"left":{"$ref":"#/components/schemas/Tree"},"right":{"$ref":"#/components/schemas/Tree"}}},"Loop":{"allOf":[{"$ref":"#/components/schemas/Loop"}]}}`,
		`{"$ref":"#/components/schemas/Tree"}`, true)
	if len(b.Fields) > maxFields || len(b.Example) > maxExample {
		t.Errorf("%d fields, %d bytes", len(b.Fields), len(b.Example))
	}
	var wide strings.Builder
	for i := range 5000 {
		fmt.Fprintf(&wide, `,"m%d":{"type":"string","minLength":1000000}`, i)
	}
	b = bodyOf(t, `{}`, `{"properties":{`+wide.String()[1:]+`}}`, true)
	if len(b.Fields) != maxFields || len(b.Example) > maxExample {
		t.Errorf("%d fields, %d bytes", len(b.Fields), len(b.Example))
	}
	wide.Reset()
	for i := range 100 {
		fmt.Fprintf(&wide, `,"m%d":{"$ref":"#/components/schemas/Web"}`, i)
	}
	var d apiDocument
	if err := json.Unmarshal([]byte(`{"components":{"schemas":{"Web":{"properties":{`+wide.String()[1:]+`}}}}}`), &d); err != nil {
		t.Fatal(err)
	}
	if d.describeBody(json.RawMessage(`{"$ref":"#/components/schemas/Web"}`), true); d.merges > maxMerges {
		t.Errorf("%d schemas were read", d.merges)
	}
	if b = bodyOf(t, `{"Loop":{"allOf":[{"$ref":"#/components/schemas/Loop"}]}}`, `{"$ref":"#/components/schemas/Loop"}`, true); len(b.Fields) != 0 {
		t.Errorf("%+v", b)
	}
	for _, odd := range []string{`true`, `null`, `{"$ref":"#/components/schemas/None"}`, `{"type":5,"properties":{"a":false},"required":"a"}`, ``} {
		_ = bodyOf(t, `{}`, odd, true)
	}
}
