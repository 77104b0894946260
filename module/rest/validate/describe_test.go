package validate

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func newDescribed() *Described {
	return &Described{Named: make(map[string]any), Ref: func(name string) string { return "#/$defs/" + name }}
}

// again compiles what a schema is described as.
func again(t *testing.T, s *Set, partial bool) *Set {
	t.Helper()
	d := newDescribed()
	body, ok := d.Body(s, partial).(map[string]any)
	if !ok {
		t.Fatal("it is not described")
	}
	text, err := json.Marshal(map[string]any{"$ref": body["$ref"], "$defs": d.Named})
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "described.json")
	if err := os.WriteFile(file, text, 0o600); err != nil {
		t.Fatal(err)
	}
	made, err := Compile(nil, &Schema{File: file})
	if err != nil {
		t.Fatalf("%v in %s", err, text)
	}
	return made
}

// all has every keyword, in an old draft and in the new one.
var all = map[string]string{
	"new": `{"$schema": "https://json-schema.org/draft/2020-12/schema", "$id": "https://example.com/all", "$comment": "c", "title": "t", "description": "d", "type": ["object", "null"],
		"properties": {
			"a": {"$ref": "#part"}, "b": {"if": {"type": "string"}, "then": {"minLength": 2}, "else": {"type": "integer"}},
			"c": {"prefixItems": [{"type": "string"}], "items": {"type": "integer"}, "contains": {"const": 1}, "minContains": 1, "maxContains": 2, "minItems": 1, "maxItems": 3},
			"d": {"type": "object", "propertyNames": {"pattern": "^[a-z]$"}, "minProperties": 1, "maxProperties": 2, "additionalProperties": {"type": "boolean"}},
			"e": {"not": {"enum": ["x", null]}, "default": "y", "examples": ["z"], "deprecated": true}, "f": {"multipleOf": 0.01, "exclusiveMinimum": 0, "exclusiveMaximum": 10.5},
			"g": {"oneOf": [{"type": "string"}, {"const": {"k": [1]}}], "writeOnly": true}, "h": {"$dynamicRef": "#part"}, "i": false, "j": true, "k": {"type": "array", "unevaluatedItems": false}
		},
		"patternProperties": {"^x-": {"type": "string"}}, "dependentRequired": {"a": ["b"]}, "dependentSchemas": {"c": {"required": ["d"]}}, "required": ["e"], "unevaluatedProperties": false,
		"$defs": {"p": {"$anchor": "part", "type": "object", "properties": {"again": {"$ref": "#"}, "n": {"type": "integer", "minimum": 1, "maximum": 9007199254740993}}}}}`,
	"same": `{"type": "object", "properties": {"a": {"$ref": "#/$defs/same"}}, "$defs": {"same": {"type": "string"}}}`,
	"old": `{"$schema": "http://json-schema.org/draft-07/schema#", "if": {"required": ["e"]}, "then": {"required": ["f"]}, "else": {"maxProperties": 3}, "properties": {"a": {"items": [{"type": "string"}], "additionalItems": {"type": "integer"}}, "b": {"items": {"$ref": "#/definitions/b"}}, "c": {"additionalItems": false}},
		"dependencies": {"a": ["b"], "b": {"required": ["c"]}, "e": ["a"]}, "definitions": {"b": {"type": "boolean"}}}`,
}

func TestSchemaDescriptionMatchesTheSchemaFile(t *testing.T) {
	dir := t.TempDir()
	set := func(name string) *Set {
		file := filepath.Join(dir, name+".json")
		if err := os.WriteFile(file, []byte(all[name]), 0o600); err != nil {
			t.Fatal(err)
		}
		s, err := Compile(nil, &Schema{File: file})
		if err != nil {
			t.Fatal(err)
		}
		return s
	}
	const whole = `"title":"Hello","author":{"name":"A"}`
	for _, c := range []struct {
		set    *Set
		bodies []string
	}{
		{schemaOf(t, "article.json", ""), []string{
			`{` + whole + `}`, `{}`, `{"title":"Hello"}`, `{"title":"Hi","author":{"name":"A"}}`, `{` + whole + `,"title2":"x"}`, `{"title":"Hello","author":{}}`,
			`{"title":"Hello","author":[]}`, `{` + whole + `,"rank":9007199254740993}`, `{` + whole + `,"rank":9007199254740994}`, `{` + whole + `,"state":"gone"}`,
			`{` + whole + `,"tags":["a","B"]}`, `{` + whole + `,"tags":["a","a"]}`, `{` + whole + `,"tags":["a","b","c","d"]}`, `{` + whole + `,"due":"2026-02-28"}`,
			`{` + whole + `,"state":"draft","due":"2026-02-30"}`, `{` + whole + `,"body":1}`, `{` + whole + `,"body":{"html":"x"}}`, `{` + whole + `,"answers":[{"text":"x","answers":[{"answers":[]}]}]}`,
		}},
		{schemaOf(t, "openapi30.json", "/components/schemas/Article"), []string{
			`{"title":"Hello","price":1}`, `{"price":1}`, `{"title":"Hello","price":0}`, `{"title":"Hello","price":1,"note":null}`, `{"title":"Hello","price":1,"note":"c"}`, `{"title":"Hello","price":1,"size":10}`,
		}},
		{schemaOf(t, "openapi30.json", "/components/schemas/Payment"), []string{`{"card":"x"}`, `{"note":"x"}`, `{"card":1}`, `{"card":"x","iban":"x"}`}},
		{schemaOf(t, "openapi31.json", "/components/schemas/a~1b~0c d"), []string{`{"title":null}`, `{"title":"Hi"}`, `{"title":"Hello"}`}},
		{set("new"), []string{
			`{"e":1}`, `{}`, `{"e":"x"}`, `{"e":1,"a":{},"b":5}`, `{"e":1,"a":{}}`, `{"e":1,"b":"x"}`, `{"e":1,"b":"xx"}`, `{"e":1,"b":1.5}`, `{"e":1,"c":["a",1],"d":{"a":true}}`, `{"e":1,"c":["a",1]}`,
			`{"e":1,"c":["a",2],"d":{"a":true}}`, `{"e":1,"c":["a",1,1,1],"d":{"a":true}}`, `{"e":1,"d":{}}`, `{"d":{"A":true}}`, `{"e":1,"d":{"a":1}}`, `{"e":1,"f":0.015}`, `{"e":1,"f":0.01}`, `{"e":1,"f":0}`, `{"e":1,"f":10.5}`,
			`{"e":1,"g":{"k":[1]}}`, `{"e":1,"g":{"k":[2]}}`, `{"e":1,"h":{"n":0}}`, `{"e":1,"i":1}`, `{"e":1,"j":1}`, `{"e":1,"k":[1]}`, `{"e":1,"x-a":1}`, `{"e":1,"x-a":""}`, `{"e":1,"zz":1}`, `{"e":1,"a":{"again":{"e":"x"}},"b":5}`, `{"e":1,"a":{"again":null},"b":5}`,
		}},
		{set("same"), []string{`{"a":"x"}`, `{"a":1}`, `{"a":{"a":"x"}}`}},
		{set("old"), []string{`{"e":1,"f":1,"a":[],"b":[],"c":1}`, `{"g":1,"h":2,"i":3,"j":4}`, `{"a":["x",1]}`, `{"a":["x",1],"b":[true],"c":1}`, `{"a":["x","y"],"b":[],"c":1}`, `{"b":[]}`, `{"b":[1],"c":1}`, `{"c":[1]}`, `{"e":1}`}},
	} {
		for _, partial := range []bool{false, true} {
			made := again(t, c.set, partial)
			for _, body := range c.bodies {
				// What is described is a whole schema of its own: a PATCH is held to it as it stands.
				if want, got := told(t, c.set, body, partial), told(t, made, body, false); want != got {
					t.Errorf("%s (PATCH %v): %q by the file, %q by the description", body, partial, want, got)
				}
			}
		}
	}
}

func TestReadOnlyMembersAreMarkedInADescription(t *testing.T) {
	d := newDescribed()
	d.Body(schemaOf(t, "article.json", ""), false)
	text, err := json.Marshal(d.Named["Article"])
	if err != nil || !strings.Contains(string(text), `"id":{"not":{},"readOnly":true,"type":"integer"}`) {
		t.Errorf("%v %s", err, text)
	}
	members := d.Members(schemaOf(t, "article.json", ""))
	if members["id"] == nil || members["title"] == nil || fmt.Sprint(members["author"]) != "map[properties:map[name:map[] since:map[readOnly:true]]]" {
		t.Errorf("%v", members)
	}
}

func TestWriteOnlyMembersAreNotInAnswers(t *testing.T) {
	file := filepath.Join(t.TempDir(), "new.json")
	if err := os.WriteFile(file, []byte(all["new"]), 0o600); err != nil {
		t.Fatal(err)
	}
	s, err := Compile(nil, &Schema{File: file})
	if err != nil {
		t.Fatal(err)
	}
	if members := newDescribed().Members(s); members["g"] != nil || members["f"] == nil || len(members) != 10 {
		t.Errorf("%v", members)
	}
}

func TestDescriptionsAreDeterministicAndDeduplicated(t *testing.T) {
	things := filepath.Join(t.TempDir(), "things.json")
	if err := os.WriteFile(things, []byte(`{"properties": {"a": {"$ref": "#/$defs/x/of"}, "b": {"$ref": "#/$defs/y/of"}, "c": {"$ref": "#/$defs/z/of"}}, "$defs": {"x": {"of": {}}, "y": {"of": {"type": "null"}}, "z": {"of": {"type": "string"}}}}`), 0o600); err != nil {
		t.Fatal(err)
	}
	three, err := Compile(nil, &Schema{File: things})
	if err != nil {
		t.Fatal(err)
	}
	first := ""
	for range 20 {
		d := newDescribed()
		d.Body(three, false)
		for _, partial := range []bool{false, true} {
			d.Body(schemaOf(t, "article.json", ""), partial)
			d.Body(schemaOf(t, "article.json", "/properties/answers/items"), partial)
			d.Body(schemaOf(t, "author.json", ""), partial)
		}
		text, err := json.Marshal(d.Named)
		if err != nil {
			t.Fatal(err)
		}
		if first == "" {
			first = string(text)
		}
		if string(text) != first {
			t.Fatalf("%s\nthen\n%s", first, text)
		}
		if len(d.Named) != 4+8 { // Things and three Of; Article, Author, Answer and Items, each for PATCH too
			t.Fatalf("%d: %s", len(d.Named), text)
		}
	}
}
