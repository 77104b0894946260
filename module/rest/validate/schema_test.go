package validate

import (
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/gatehouse/gatehouse/module/internal/rest/turns"
)

func schemaOf(t testing.TB, file, pointer string) *Set {
	t.Helper()
	s, err := Compile(nil, &Schema{File: filepath.Join("testdata", file), Pointer: pointer})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func written(t testing.TB, text string) *Set {
	t.Helper()
	file := filepath.Join(t.TempDir(), "schema.json")
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	s, err := Compile(nil, &Schema{File: file})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// told is the message of what is refused, which begins with the field, "" for what is accepted.
func told(t testing.TB, s *Set, body string, partial bool) string {
	t.Helper()
	o, refused := Parse([]byte(body))
	if refused == nil {
		refused = s.Check(turns.Caller{}, nil, o, partial)
	}
	if refused == nil {
		return ""
	}
	if refused.Status != 400 || refused.Code != "" {
		t.Errorf("%s: %v", body, refused)
	}
	if refused.Field != "" && strings.HasPrefix(refused.Message, refused.Field+" ") {
		return refused.Message
	}
	return refused.Field + ": " + refused.Message
}

func TestSchemaErrorNamesTheMember(t *testing.T) {
	const whole = `"title":"Hello","author":{"name":"A"}`
	for _, c := range []struct {
		body, whole, partial string
	}{
		{`{` + whole + `}`, "", ""},
		{`{}`, "author is required", ""},
		{`{"title":"Hello"}`, "author is required", ""},
		{`{"title":"Hi","author":{"name":"A"}}`, "title must have at least 5 characters", "title must have at least 5 characters"},
		{`{"title":"日本語字幕","author":{"name":"A"}}`, "", ""},
		{`{` + whole + `,"title2":"x"}`, "title2 is not a field of this resource", "title2 is not a field of this resource"},
		{`{` + whole + `,"id":1}`, "id cannot be written", "id cannot be written"},
		{`{"title":"Hello","author":{}}`, "/author/name is required", "/author/name is required"},
		{`{"title":"Hello","author":{"name":"A","since":"x"}}`, "/author/since cannot be written", "/author/since cannot be written"},
		{`{"title":"Hello","author":[]}`, "author must be of the type object", "author must be of the type object"},
		{`{` + whole + `,"rank":9007199254740993}`, "", ""},
		{`{` + whole + `,"rank":9007199254740994}`, "rank must be at most 9007199254740993", "rank must be at most 9007199254740993"},
		{`{` + whole + `,"rank":1.5}`, "rank must be of the type integer", "rank must be of the type integer"},
		{`{` + whole + `,"rank":1e400}`, "rank must be at most 9007199254740993", "rank must be at most 9007199254740993"},
		{`{` + whole + `,"rank":1e999999999}`, "rank is a number that is too long", "rank is a number that is too long"},
		{`{` + whole + `,"state":"gone"}`, "state must be one of: draft, published", "state must be one of: draft, published"},
		{`{` + whole + `,"tags":["a","B"]}`, "/tags/1 must match ^[a-z]+$", "/tags/1 must match ^[a-z]+$"},
		{`{` + whole + `,"tags":["a","a"]}`, "tags must have elements that differ", "tags must have elements that differ"},
		{`{` + whole + `,"tags":["a","b","c","d"]}`, "tags must have at most 3 elements", "tags must have at most 3 elements"},
		{`{` + whole + `,"state":"draft","due":"2026-02-30"}`, "due must be of the format date", "due must be of the format date"},
		{`{` + whole + `,"due":"2026-02-28"}`, "state is required", ""},
		{`{` + whole + `,"body":1}`, "body does not fit the schema", "body does not fit the schema"},
		{`{` + whole + `,"body":{"html":"x"}}`, "", ""},
		{`{` + whole + `,"answers":[{"text":"x","answers":[{"answers":[]}]}]}`, "/answers/0/answers/0/text is required", "/answers/0/answers/0/text is required"},
	} {
		s := schemaOf(t, "article.json", "")
		for range 5 { // the validator goes through objects in any order
			if got := told(t, s, c.body, false); got != c.whole {
				t.Fatalf("%s: %s", c.body, got)
			}
			if got := told(t, s, c.body, true); got != c.partial {
				t.Fatalf("PATCH %s: %s", c.body, got)
			}
		}
	}
}

// A reference that is resolved by the schemas around it leads to what is asked of requests, too.
func TestDynamicReferencesLeadToSchemasOfRequests(t *testing.T) {
	const node = `"type":"object","required":["id","name"],"properties":{"id":{"type":"integer","readOnly":true},"name":{"type":"string"},`
	for name, text := range map[string]string{
		"$dynamicRef": `{"$schema":"https://json-schema.org/draft/2020-12/schema","$dynamicAnchor":"node",` + node + `"child":{"$dynamicRef":"#node"}}}`,
		"$dynamicRef in oneOf": `{"$schema":"https://json-schema.org/draft/2020-12/schema","$dynamicAnchor":"node",` + node + `"root":{"type":"boolean"}},
			"oneOf":[{"properties":{"child":{"$dynamicRef":"#node"}}},{"properties":{"child":false,"root":false}}]}`,
		"$recursiveRef in oneOf": `{"$schema":"https://json-schema.org/draft/2019-09/schema","$recursiveAnchor":true,` + node + `"root":{"type":"boolean"}},
			"oneOf":[{"properties":{"child":{"$recursiveRef":"#"}}},{"properties":{"child":false,"root":false}}]}`,
	} {
		s := written(t, text)
		for body, fits := range map[string]bool{
			`{"name":"a","root":true,"child":{"name":"b","root":true}}`:        true,
			`{"name":"a","root":true,"child":{"name":"b","root":true,"id":1}}`: false,
		} {
			for _, partial := range []bool{false, true} {
				if got := told(t, s, body, partial); (got == "") != fits {
					t.Errorf("%s: %s, partial %v: %s", name, body, partial, got)
				}
			}
		}
		if got := told(t, s, `{"root":true}`, true); got != "" {
			t.Errorf("%s: PATCH %s", name, got)
		}
	}
}

func TestWrongNameIsReportedWithItsPlace(t *testing.T) {
	s := written(t, `{"additionalProperties":{"propertyNames":{"pattern":"^[a-z]+$"}}}`)
	for range 20 {
		if got := told(t, s, `{"a":{"x":1},"b":{"x":1,"Y":1,"Z":1},"c":{"x":1},"d":{"x":1}}`, false); got != "/b/Y is not a field of this resource" {
			t.Fatal(got)
		}
	}
}

func TestFirstOfSeveralSchemaErrorsIsReported(t *testing.T) {
	s := schemaOf(t, "article.json", "")
	for range 20 {
		if got := told(t, s, `{"zz":1,"rank":"x","title":"x","aa":1,"author":{"name":1}}`, false); got != "/author/name must be of the type string" && got != "aa is not a field of this resource" {
			t.Fatal(got)
		}
	}
}

func TestOpenAPI30Schema(t *testing.T) {
	article := schemaOf(t, "openapi30.json", "/components/schemas/Article")
	body := schemaOf(t, "openapi30.json", "#/paths/~1articles/post/requestBody/content/application~1json/schema")
	for _, c := range []struct {
		body, whole, partial string
	}{
		{`{"title":"Hello","price":1}`, "", ""},
		{`{"price":1}`, "title is required", ""},
		{`{"title":"Hello"}`, "price is required", ""},
		{`{"title":"Hello","price":0}`, "price must be more than 0", "price must be more than 0"},
		{`{"title":"Hello","price":1,"id":7}`, "id cannot be written", "id cannot be written"},
		{`{"title":"Hello","price":1,"note":null}`, "", ""},
		{`{"title":"Hello","price":1,"note":"c"}`, "note must be one of: a, b, null", "note must be one of: a, b, null"},
		{`{"title":"Hello","price":1,"size":null}`, "", ""},
		{`{"title":"Hello","price":1,"size":10}`, "size must be less than 10", "size must be less than 10"},
		{`{"title":null,"price":1}`, "title must be of the type string", "title must be of the type string"},
	} {
		for _, s := range []*Set{article, body} {
			if got := told(t, s, c.body, false); got != c.whole {
				t.Errorf("%s: %s", c.body, got)
			}
			if got := told(t, s, c.body, true); got != c.partial {
				t.Errorf("PATCH %s: %s", c.body, got)
			}
		}
	}
	payment := schemaOf(t, "openapi30.json", "/components/schemas/Payment")
	for body, want := range map[string][2]string{
		`{"card":"x"}`:            {"", ""},
		`{"note":"x"}`:            {": the body does not fit the schema", ""},
		`{"card":1}`:              {": the body does not fit the schema", ""},
		`{"card":1,"iban":1}`:     {": the body does not fit the schema", ": the body does not fit the schema"},
		`{"card":"x","iban":"x"}`: {": the body does not fit the schema", ""},
	} {
		for i, partial := range []bool{false, true} {
			if got := told(t, payment, body, partial); got != want[i] {
				t.Errorf("%s %v: %s", body, partial, got)
			}
		}
	}
}

func TestOpenAPI31Schema(t *testing.T) {
	for _, pointer := range []string{"/components/schemas/a~1b~0c d", "#/components/schemas/a~1b~0c d"} {
		s := schemaOf(t, "openapi31.json", pointer)
		for body, want := range map[string]string{
			`{"title":null}`: "", `{"title":"Hi"}`: "title must have at least 5 characters", `{"title":"Hello","x":1}`: "x cannot be written",
		} {
			if got := told(t, s, body, false); got != want {
				t.Errorf("%s: %s", body, got)
			}
		}
	}
}

func TestUnusableSchemaFileIsRefusedWithItsLocation(t *testing.T) {
	fetched := 0
	server := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { fetched++ }))
	t.Cleanup(server.Close)
	for _, c := range []struct {
		name, text, pointer string
		want                []string
	}{
		{"a.json", "{\n\t\"type\": \"string\",\n\t\"minLength\": 5,,\n}", "", []string{"a.json:3:17: expected JSON: invalid character ','"}},
		{"a.json", ``, "", []string{"a.json: expected JSON"}},
		{"a.json", `{} {}`, "", []string{"a.json", "expected JSON"}},
		{"a.yaml", "openapi: 3.0.0\n", "", []string{"a.yaml:1:1: expected JSON", "convert YAML to JSON"}},
		{"a.json", `{"type": "text"}`, "", []string{"a.json: at type: "}},
		{"a.json", `{"properties": {"a": {"minLength": -1}}}`, "", []string{"a.json: at /properties/a/minLength: must be at least 0"}},
		{"a.json", `{"properties": {"a": {"pattern": "(?=x)"}}}`, "", []string{"a.json", "pattern"}},
		{"a.json", `{"$ref": "b.json"}`, "", []string{"a.json", "b.json", "no such file"}},
		{"a.json", `{"$ref": "` + server.URL + `/x.json"}`, "", []string{"a.json", "schemas are not fetched from URLs"}},
		{"a.json", `{"$schema": "` + server.URL + `/x.json"}`, "", []string{"a.json", "schemas are not fetched from URLs"}},
		{"a.json", `{"$ref": "#/$defs/none"}`, "", []string{"a.json", "none"}},
		{"a.json", `{}`, "/components/schemas/Article", []string{"a.json#/components/schemas/Article"}},
		{"a.json", `{}`, "components", []string{"a.json", "pointer components"}},
		{"a.json", `{"openapi": "3.1.0"}`, "", []string{"a.json: expected a pointer to the schema in an OpenAPI document"}},
		{"a.json", `{"openapi": "4.0.0"}`, "/x", []string{"openapi 4.0.0: expected OpenAPI 3.0 or 3.1"}},
		{"a.json", `{"swagger": "2.0"}`, "/definitions/x", []string{"not Swagger 2.0"}},
		{"a.json", strings.Repeat(" ", maxFile) + "{}", "", []string{"a.json: expected at most"}},
	} {
		file := filepath.Join(t.TempDir(), c.name)
		if err := os.WriteFile(file, []byte(c.text), 0o600); err != nil {
			t.Fatal(err)
		}
		_, err := Compile(nil, &Schema{File: file, Pointer: c.pointer})
		if err == nil || strings.Contains(err.Error(), "\n") || !strings.HasPrefix(err.Error(), "schema ") {
			t.Errorf("%.60s: %v", c.text, err)
			continue
		}
		for _, want := range c.want {
			if !strings.Contains(err.Error(), want) {
				t.Errorf("%.60s: %v", c.text, err)
			}
		}
	}
	if _, err := Compile(nil, &Schema{}); err == nil || err.Error() != "schema: expected a file" {
		t.Error(err)
	}
	if _, err := Compile(nil, &Schema{File: filepath.Join(t.TempDir(), "none.json")}); err == nil || !strings.Contains(err.Error(), "none.json: no such file") {
		t.Error(err)
	}
	if fetched > 0 {
		t.Error("an address was fetched")
	}
}

func TestSchemaFileIsReadOnce(t *testing.T) {
	file := filepath.Join(t.TempDir(), "a.json")
	if err := os.WriteFile(file, []byte("\xef\xbb\xbf"+`{"required": ["a"]}`), 0o600); err != nil {
		t.Fatal(err)
	}
	s, err := Compile(nil, &Schema{File: file})
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Remove(file); err != nil {
		t.Fatal(err)
	}
	if got := told(t, s, `{}`, false); got != "a is required" {
		t.Error(got)
	}
}
