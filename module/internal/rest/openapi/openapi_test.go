package openapi

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/gatehouse/gatehouse/module/internal/rest/routes"
	"github.com/gatehouse/gatehouse/module/rest/job"
	"github.com/gatehouse/gatehouse/module/rest/link"
	"github.com/gatehouse/gatehouse/module/rest/list"
	"github.com/gatehouse/gatehouse/module/rest/resource"
	"github.com/gatehouse/gatehouse/module/rest/validate"
)

// told is a document as a test asks it.
type told struct {
	t    *testing.T
	text string
	all  any
}

func describe(t *testing.T, c Config, resources ...resource.Resource) told {
	t.Helper()
	if len(resources) > 0 {
		table, err := routes.New(resources)
		if err != nil {
			t.Fatal(err)
		}
		c.Table = table
	}
	text, err := Document(c)
	if err != nil {
		t.Fatal(err)
	}
	var all any
	if err := json.Unmarshal(text, &all); err != nil {
		t.Fatal(err)
	}
	for _, m := range reference.FindAllStringSubmatch(string(text), -1) {
		if (told{t, "", all}).at("components", m[1], m[2]) == nil {
			t.Errorf("%s is nowhere", m[0])
		}
	}
	return told{t, string(text), all}
}

// at is what stands somewhere, nil for nothing.
func (d told) at(path ...string) any {
	at := d.all
	for _, name := range path {
		object, _ := at.(map[string]any)
		at = object[name]
	}
	return at
}

func (d told) is(want string, path ...string) {
	d.t.Helper()
	got, err := json.Marshal(d.at(path...))
	if err != nil || string(got) != want {
		d.t.Errorf("%s: %s, want %s", strings.Join(path, " "), got, want)
	}
}

// statuses are the answers of an operation.
func (d told) statuses(method, path string) string {
	all, _ := d.at("paths", path, method, "responses").(map[string]any)
	var names []string
	for name := range all {
		names = append(names, name)
	}
	slices.Sort(names)
	return strings.Join(names, " ")
}

// fields are the parameters of an operation.
func (d told) fields(method, path string) string {
	all, _ := d.at("paths", path, method, "parameters").([]any)
	var names []string
	for _, p := range all {
		p, _ := p.(map[string]any)
		names = append(names, fmt.Sprint(p["in"], ":", p["name"]))
	}
	return strings.Join(names, " ")
}

var articles = resource.Resource{
	Path: "articles", Item: "/result", List: &list.Config{Default: 30, Max: 50, Filters: []list.Filter{{Name: list.Name{Name: "tag"}}}},
	Rename: map[string]string{"title": "subject"}, Values: map[string]map[string]string{"state": {"published": "1", "draft": "0"}},
	Replace: []string{"title", "body"}, Created: &resource.Created{Status: 201}, Deleted: 204, Links: []link.Link{{Rel: "self"}},
	Batch: []string{"title"}, BatchMax: 7, Idempotency: true, ETag: true,
	Validate: []validate.Rule{
		{Field: "title", Required: true, Length: &[2]int{5, 100}}, {Field: "rank", Integer: true, Min: "1", Max: "9007199254740993"}, {Field: "kind", Enum: []string{"a", "1", "true", "null"}},
		{Field: "state", Required: true}, {Field: "id", Readonly: true}, {Field: "/author/name", Required: true, Pattern: "[a-z]+"}, {Field: "/author/mail", Format: "email"}, {Field: "price", Min: "0.5"},
	},
}

// outline is what an operation asks for beside its body, and its statuses.
type outline struct{ method, path, fields, statuses string }

func (d told) holds(all []outline) {
	d.t.Helper()
	for _, c := range all {
		if got := d.fields(c.method, c.path); got != c.fields {
			d.t.Errorf("%s %s asks %s, want %s", c.method, c.path, got, c.fields)
		}
		if got := d.statuses(c.method, c.path); got != c.statuses {
			d.t.Errorf("%s %s answers %s, want %s", c.method, c.path, got, c.statuses)
		}
	}
}

func TestEachOperationListsParametersAndResponses(t *testing.T) {
	d := describe(t, Config{}, articles)
	d.holds([]outline{
		{"get", "/articles", "query:page query:limit query:tag header:If-None-Match", "200 304 400 404 429 default"},
		{"post", "/articles", "header:Idempotency-Key", "201 400 404 409 413 415 422 429 503 default"},
		{"patch", "/articles", "", "200 207 400 404 413 415 429 default"},
		{"get", "/articles/{id}", "header:If-None-Match", "200 304 404 429 default"},
		{"put", "/articles/{id}", "header:If-Match", "200 2XX 400 404 412 413 415 429 default"},
		{"patch", "/articles/{id}", "header:If-Match", "200 2XX 400 404 412 413 415 429 default"},
		{"delete", "/articles/{id}", "header:If-Match", "204 404 412 429 default"},
	})
	d.is(`"uri-reference"`, "paths", "/articles", "post", "responses", "201", "headers", "Location", "schema", "format")
}

func TestConstraintsAreDescribedOnEveryLevel(t *testing.T) {
	d := describe(t, Config{}, articles)
	const name = "ArticlesInput"
	for want, path := range map[string][]string{
		`{"maxLength":100,"minLength":5,"type":"string"}`:                    {"title"},
		`{"maximum":9007199254740993,"minimum":1,"type":["integer","null"]}`: {"rank"},
		`{"minimum":0.5,"type":["number","null"]}`:                           {"price"},
		`{"enum":["a","1",1,"true",true,"null",null]}`:                       {"kind"},
		`{"enum":["draft","published"],"type":"string"}`:                     {"state"},
		`null`: {"id"},
		`{"pattern":"^(?:[a-z]+)$","type":"string"}`:  {"author", "properties", "name"},
		`{"format":"email","type":["string","null"]}`: {"author", "properties", "mail"},
		`["object","null"]`:                           {"author", "type"},
		`{}`:                                          {"body"},
	} {
		if strings.Contains(want, "9007199254740993") {
			if !strings.Contains(d.text, want) { // too large for who decodes into a float
				t.Errorf("no %s", want)
			}
			continue
		}
		d.is(want, append([]string{"components", "schemas", name, "properties"}, path...)...)
	}
	d.is(`null`, "components", "schemas", name, "properties", "links")
	d.is(`"array"`, "components", "schemas", "Articles", "properties", "links", "type")
	body := func(method, path string) []string {
		return []string{"paths", path, method, "requestBody", "content", "application/json", "schema"}
	}
	input := `{"$ref":"#/components/schemas/ArticlesInput"}`
	d.is(`{"allOf":[`+input+`,{"properties":{"author":{"required":["name"]}},"required":["state","title"]}]}`, body("post", "/articles")...)
	d.is(`{"allOf":[`+input+`,{"properties":{"author":{"required":["name"]}},"required":["body","state","title"]}]}`, body("put", "/articles/{id}")...)
	d.is(input, body("patch", "/articles/{id}")...)
	d.is(`{"schema":`+input+`}`, "paths", "/articles/{id}", "patch", "requestBody", "content", "application/merge-patch+json")
	d.is(`7`, append(body("patch", "/articles"), "maxItems")...)
	d.is(`{"enum":["/title"],"type":"string"}`, append(body("patch", "/articles"), "items", "properties", "path")...)
}

func TestAllowedMembersAreDescribed(t *testing.T) {
	d := describe(t, Config{}, resource.Resource{
		Path: "notes", Rename: map[string]string{"text": "t"}, Values: map[string]map[string]string{"state": {"on": "1"}, "other": {"on": "1"}},
		Validate: []validate.Rule{{Field: "state"}, {Field: "/author/name"}, {Field: "*", Readonly: true}},
	})
	d.is(`{"author":{"additionalProperties":false,"properties":{"name":{}},"type":["object","null"]},"state":{"enum":["on",null],"type":["string","null"]}}`, "components", "schemas", "NotesInput", "properties")
	d.is(`false`, "components", "schemas", "NotesInput", "additionalProperties")
	d.is(`{"not":{"enum":["_method","t"]}}`, "components", "schemas", "NotesInput", "propertyNames")
	d.is(`{"properties":{"author":{"properties":{"name":{}}},"other":{"description":"One of on, or another value of the API's.","examples":["on"]},"state":{"description":"One of on, or another value of the API's.","examples":["on"]},"text":{}}}`, "components", "schemas", "Notes")
}

func TestDisabledConventionsAreNotDescribed(t *testing.T) {
	d := describe(t, Config{}, resource.Resource{Path: "notes", Off: []string{"list", "created", "deleted"}}, resource.Resource{Path: "words", Routes: []resource.Route{{Method: "POST", Path: "/words/{id}/uses", Upstream: "/u"}}})
	for path, method := range map[string]string{"/notes": "post", "/notes/{id}": "delete", "/words/{id}/uses": "post"} {
		if got := d.statuses(method, path); !strings.HasPrefix(got, "2XX ") {
			t.Errorf("%s: %s", path, got)
		}
	}
	d.is(`{"type":"object"}`, "paths", "/notes", "post", "requestBody", "content", "application/json", "schema")
	d.is(`null`, "paths", "/notes", "post", "requestBody", "content", "application/json", "schema", "allOf")
	d.is(`false`, "paths", "/words/{id}/uses", "post", "requestBody", "required")
	if strings.Contains(d.text, "NotesInput") || strings.Contains(d.text, "Pagination") {
		t.Error("what nothing refers to is there")
	}
}

func TestDefaultConventionsAreDescribed(t *testing.T) {
	d := describe(t, Config{}, resource.Resource{Path: "notes"}, resource.Resource{Path: "words", Rename: map[string]string{"a": "b"}, Query: []list.Name{{Name: "lang"}}})
	d.holds([]outline{
		{"get", "/notes", "query:page query:limit query:sort query:state", "200 400 404 429 default"},
		{"post", "/notes", "", "201 2XX 400 404 413 415 429 default"},
		{"delete", "/notes/{id}", "", "204 2XX 404 429 default"},
		{"patch", "/notes", "", "200 207 400 404 413 415 429 default"},
		{"get", "/words/{id}", "query:lang", "200 400 404 429 default"},
	})
	if page, _ := json.Marshal(d.at("paths", "/notes", "get", "responses", "200", "content", "application/json", "schema", "anyOf")); !strings.Contains(string(page), "/UndeclaredPagination") {
		t.Errorf("the page of a list: %s", page)
	}
	d.is(`"string"`, "paths", "/notes", "patch", "requestBody", "content", "application/json", "schema", "items", "properties", "path", "type")
	read, _ := json.Marshal(d.at("paths", "/words/{id}", "get", "parameters"))
	all, _ := json.Marshal(d.at("paths", "/notes", "get", "parameters"))
	if empty, least := `"allowEmptyValue":true`, `"minLength":1`; !strings.Contains(string(read), empty) || !strings.Contains(string(read), `"minLength":0`) ||
		strings.Contains(string(all), empty) || !strings.Contains(string(all), least) {
		t.Errorf("declared parameters may be empty: %s; conventional ones may not: %s", read, all)
	}
}

func TestOperationIDsAndPathsAreUnique(t *testing.T) {
	d := describe(t, Config{}, resource.Resource{Path: "old-notes"}, resource.Resource{Path: "old/notes", Routes: []resource.Route{
		{Method: "GET", Path: "/old/notes", Upstream: "/n"}, {Method: "GET", Path: "/old/notes/{id}", Upstream: "/n"}, {Method: "DELETE", Path: "/old/notes/{note}", Upstream: "/n"},
	}})
	d.is(`"get_old_notes"`, "paths", "/old-notes", "get", "operationId")
	d.is(`"get_old_notes_2"`, "paths", "/old/notes", "get", "operationId")
	d.is(`"delete_old_notes_note"`, "paths", "/old/notes/{id}", "delete", "operationId")
	d.is(`null`, "paths", "/old/notes/{note}")
}

func TestListPageSizeDefaultIsAtMostItsMaximum(t *testing.T) {
	for want, c := range map[string]list.Config{"10 10": {Max: 10}, "20 50": {Max: 50}, "30 100": {Default: 30}, "200 200": {Default: 200}} {
		d := describe(t, Config{}, resource.Resource{Path: "notes", List: &c})
		all, _ := d.at("paths", "/notes", "get", "parameters").([]any)
		limit, _ := all[1].(map[string]any)["schema"].(map[string]any)
		if got := fmt.Sprint(limit["default"], " ", limit["maximum"]); got != want {
			t.Errorf("%+v: %s, want %s", c, got, want)
		}
	}
}

func TestOperationsAreSummarized(t *testing.T) {
	d := describe(t, Config{}, articles, resource.Resource{Path: "words", Routes: []resource.Route{
		{Method: "POST", Path: "/words/{id}/uses", Upstream: "/u"}, {Method: "DELETE", Path: "/words/{id}/uses/{use}", Upstream: "/u"}, {Method: "GET", Path: "/words", Upstream: "/w"},
	}})
	for op, want := range map[string]string{
		"get /articles": "List the articles", "post /articles": "Add to the articles", "patch /articles": "Change several of the articles", "put /articles/{id}": "Replace one of the articles",
		"post /words/{id}/uses": "Call uses", "delete /words/{id}/uses/{use}": "Call uses", "get /words": "Read the words", "get /articles/{id}": "Read one of the articles",
	} {
		method, path, _ := strings.Cut(op, " ")
		d.is(`"`+want+`"`, "paths", path, method, "summary")
	}
}

func TestSameNamedResourcesHaveSeparateSchemas(t *testing.T) {
	d := describe(t, Config{},
		resource.Resource{Path: "old-notes", Rename: map[string]string{"a": "x"}},
		resource.Resource{Path: "old", Nested: []resource.Resource{{Path: "notes", Rename: map[string]string{"b": "x"}}}},
		resource.Resource{Path: "error", Rename: map[string]string{"c": "x"}},
	)
	d.is(`{"$ref":"#/components/schemas/OldNotes"}`, "paths", "/old-notes/{id}", "get", "responses", "200", "content", "application/json", "schema")
	d.is(`{"$ref":"#/components/schemas/OldNotes2"}`, "paths", "/old/{id}/notes/{sub_id}", "get", "responses", "200", "content", "application/json", "schema")
	d.is(`{"$ref":"#/components/schemas/Error2"}`, "paths", "/error/{id}", "get", "responses", "200", "content", "application/json", "schema")
	d.is(`{"a":{}}`, "components", "schemas", "OldNotes", "properties")
	d.is(`{"b":{}}`, "components", "schemas", "OldNotes2", "properties")
}

func TestSchemaFileIsInTheDescription(t *testing.T) {
	dir := t.TempDir()
	write := func(name, text string) string {
		file := filepath.Join(dir, name)
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return file
	}
	write("person.json", `{"type": "object", "properties": {"name": {"type": "string"}, "knows": {"$ref": "#"}, "secret": {"writeOnly": true}}}`)
	file := write("note.json", `{"required": ["text", "id"], "properties": {"text": {"type": "string"}, "id": {"type": "integer", "readOnly": true}, "by": {"$ref": "person.json"}, "pin": {"writeOnly": true}}}`)
	huge := write("huge.json", `{"description": "`+strings.Repeat("x", 1<<19)+`"}`)
	d := describe(t, Config{},
		resource.Resource{Path: "notes", Schema: &validate.Schema{File: file}, Validate: []validate.Rule{{Field: "text", Length: &[2]int{1, 9}}}},
		resource.Resource{Path: "large", Schema: &validate.Schema{File: huge}},
	)
	d.is(`{"allOf":[{"$ref":"#/components/schemas/NotesInput"},{"$ref":"#/components/schemas/Note"}]}`, "paths", "/notes", "post", "requestBody", "content", "application/json", "schema")
	d.is(`{"allOf":[{"$ref":"#/components/schemas/NotesInput"},{"$ref":"#/components/schemas/NotePatch"}]}`, "paths", "/notes/{id}", "patch", "requestBody", "content", "application/json", "schema")
	d.is(`["text"]`, "components", "schemas", "Note", "required")
	d.is(`null`, "components", "schemas", "NotePatch", "required")
	d.is(`{"$ref":"#/components/schemas/Person"}`, "components", "schemas", "Person", "properties", "knows")
	d.is(`{"knows":{"properties":{"knows":{"properties":{"knows":{},"name":{}}},"name":{}}},"name":{}}`, "components", "schemas", "Notes", "properties", "by", "properties")
	d.is(`{"readOnly":true}`, "components", "schemas", "Notes", "properties", "id")
	d.is(`{}`, "components", "schemas", "Notes", "properties", "text")
	d.is(`null`, "components", "schemas", "Notes", "required")
	d.is(`"Add to the large. The body is also held to a schema that is too large to be shown."`, "paths", "/large", "post", "description")
	if len(d.text) > 1<<16 {
		t.Errorf("%d bytes", len(d.text))
	}
}

func TestJobsAreDescribedAsTheyAnswer(t *testing.T) {
	importing := job.Config{Path: "import-jobs", Upstream: "/x", Fetch: &job.Fetch{}}
	d := describe(t, Config{Jobs: []job.Config{importing, {Path: "reports/", Upstream: "/r", When: "preferred"}, {Path: "mails", Upstream: "/m", When: "preferred"}}}, resource.Resource{Path: "reports", Idempotency: true})
	d.holds([]outline{
		{"post", "/import-jobs", "header:Prefer", "200 202 400 404 413 415 429 503 default"},
		{"get", "/jobs/{id}", "", "200 404 429 503 default"},
		{"delete", "/jobs/{id}", "", "204 404 409 429 503 default"},
		{"post", "/reports", "header:Idempotency-Key header:Prefer", "201 202 2XX 400 404 409 413 415 422 429 503 default"},
		{"post", "/mails", "header:Prefer", "202 2XX 400 404 413 415 429 503 default"},
	})
	d.is(`["file_url"]`, "paths", "/import-jobs", "post", "requestBody", "content", "application/json", "schema", "required")
	d.is(`{}`, "paths", "/mails", "post", "requestBody", "content", "*/*")
	d.is(`"post_reports"`, "paths", "/reports", "post", "operationId")
	d.is(`["reports"]`, "paths", "/reports", "post", "tags")
}

type needsFunc func(method, path string) (scopes []string, public, denied bool)

func (f needsFunc) Needs(method, path string) (scopes []string, public, denied bool) {
	return f(method, path)
}

func TestScopesAndDeniedOperationsAreDescribed(t *testing.T) {
	needs := needsFunc(func(method, path string) (scopes []string, public, denied bool) {
		switch {
		case path == "/v1/notes/0" && method == "DELETE", strings.HasPrefix(path, "/v1/secret"):
			return nil, false, true
		case method == "GET":
			return nil, true, false
		case method == "POST":
			return []string{}, false, false
		}
		return []string{"b", "a"}, false, false
	})
	c := Config{Issuer: "https://id.example/", Texts: map[string]string{"a": "Do a"}, Needs: needs, Server: "/v1", MediaType: "application/vnd.x.v1+json", Version: "v1", Deprecated: true, Sunset: time.Date(2027, 6, 30, 23, 0, 0, 0, time.FixedZone("", -7200))}
	d := describe(t, c, resource.Resource{Path: "notes", Off: []string{"list", "created"}}, resource.Resource{Path: "secrets", List: new(list.Config)})
	d.is(`[]`, "paths", "/notes", "get", "security")
	d.is(`[{"oauth2":[]}]`, "paths", "/notes", "post", "security")
	d.is(`[{"oauth2":["b","a"]}]`, "paths", "/notes/{id}", "put", "security")
	d.is(`null`, "paths", "/notes/{id}", "delete")
	d.is(`null`, "paths", "/secrets")
	d.is(`{"a":"Do a","b":"b"}`, "components", "securitySchemes", "oauth2", "flows", "clientCredentials", "scopes")
	d.is(`"https://id.example/authorize"`, "components", "securitySchemes", "oauth2", "flows", "authorizationCode", "authorizationUrl")
	d.is(`true`, "paths", "/notes", "get", "deprecated")
	d.is(`[{"description":"Operations on notes.","name":"notes"}]`, "tags")
	d.is(`"Made by the gateway from what is declared of the API. This version ends on 2027-07-01."`, "info", "description")
	for method, want := range map[string]string{"get": "200 404 406 429 default", "post": "2XX 400 401 403 404 406 413 415 429 default"} {
		if got := d.statuses(method, "/notes"); got != want {
			t.Errorf("%s: %s", method, got)
		}
	}
	content, _ := d.at("paths", "/notes/{id}", "get", "responses", "200", "content").(map[string]any)
	if len(content) != 2 || content["application/vnd.x.v1+json"] == nil {
		t.Errorf("%v", content)
	}
	for _, gone := range []string{"Secret", "Pagination"} {
		if strings.Contains(d.text, gone) {
			t.Errorf("%s is there, which nobody may ask for", gone)
		}
	}
	open := describe(t, Config{}, resource.Resource{Path: "notes"})
	open.is(`null`, "components", "securitySchemes")
	open.is(`[]`, "paths", "/notes", "post", "security")
}

func TestEqualConfigsGiveEqualBytes(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "a.json")
	if err := os.WriteFile(file, []byte(`{"properties": {"a": {"$ref": "#/$defs/x/thing"}, "b": {"$ref": "#/$defs/y/thing"}, "c": {"$ref": "#/$defs/z/thing"}}, "$defs": {"x": {"thing": {"type": "string"}}, "y": {"thing": {}}, "z": {"thing": {"type": "null"}}}}`), 0o600); err != nil {
		t.Fatal(err)
	}
	one := articles
	one.Schema = &validate.Schema{File: file}
	first := describe(t, Config{}, one).text
	for range 20 {
		if again := describe(t, Config{}, one).text; again != first {
			t.Fatalf("%s\nthen\n%s", first, again)
		}
	}
}

func TestFailuresAreDescribedInBothFormats(t *testing.T) {
	d := describe(t, Config{}, articles)
	for _, name := range []string{"400", "404", "412", "429", "failure"} {
		content, _ := d.at("components", "responses", name, "content").(map[string]any)
		if len(content) != 2 || content["application/json"] == nil || content["application/problem+json"] == nil {
			t.Errorf("%s: %v", name, content)
		}
	}
	d.is(`["code","message","field"]`, "components", "schemas", "Failure", "required")
	d.is(`"integer"`, "components", "responses", "429", "headers", "Retry-After", "schema", "type")
	d.is(`null`, "components", "responses", "401")
}

// R09: what is stored may be older than the rules, and WordPress renders a title that it
// takes as a text.
func TestAnswerSchemasHaveNoValueConstraints(t *testing.T) {
	d := describe(t, Config{}, articles)
	answer, err := json.Marshal(d.at("components", "schemas", "Articles", "properties"))
	if err != nil {
		t.Fatal(err)
	}
	for _, word := range []string{`"type":"string"`, "minLength", "maxLength", "minimum", "maximum", "enum", "pattern", "format"} {
		if text := strings.ReplaceAll(string(answer), `"#/components/schemas/Link"`, ""); strings.Contains(text, word) {
			t.Errorf("R09 an answer is held to %s: %s", word, text)
		}
	}
	d.is(`{"mail":{},"name":{}}`, "components", "schemas", "Articles", "properties", "author", "properties")
	d.is(`{"readOnly":true}`, "components", "schemas", "Articles", "properties", "id")
}

// R09: a batch is held to the rules of a PATCH, and says so.
func TestOpenAPIBatchItemsFollowPatchRules(t *testing.T) {
	d := describe(t, Config{}, articles, resource.Resource{
		Path: "notes", Rename: map[string]string{"text": "t"}, Validate: []validate.Rule{{Field: "id", Readonly: true}, {Field: "a/b", Required: true}},
	})
	items := []string{"paths", "/articles", "patch", "requestBody", "content", "application/json", "schema", "items"}
	d.is(`[{"if":{"properties":{"path":{"const":"/title"}},"required":["path"]},"then":{"properties":{"value":{"maxLength":100,"minLength":5,"type":"string"}}}}]`, append(items, "allOf")...)
	d.is(`[{"properties":{"op":{"const":"replace"}},"required":["value"]},{"not":{"required":["value"]},"properties":{"op":{"const":"remove"},"path":{"not":{"enum":["/state","/title"]}}}}]`, append(items, "oneOf")...)
	d.is(`512`, append(items, "properties", "id", "maxLength")...)
	items[1] = "/notes"
	d.is(`{"enum":["/_method","/id","/t"]}`, append(items, "properties", "path", "not")...)
	second, _ := d.at(append(items, "oneOf")...).([]any)
	if got := fmt.Sprint(second[1]); !strings.Contains(got, "enum:[/a~1b]") {
		t.Errorf("R09 %s", got)
	}
}

// R09: validators of documents read ECMA-262, and rules are RE2.
func TestPatternsAreTranslatedToECMA262(t *testing.T) {
	for re2, want := range map[string]string{
		`[a-z]+`: `^(?:[a-z]+)$`, `\@\-\_x`: `^(?:@-_x)$`, `(?i)ab`: `^(?:[Aa][Bb])$`, `[^|]*`: `^(?:[^|]*)$`, `(\d{4})-(?P<m>\d\d?)`: `^(?:(?:[0-9]{4})-(?:[0-9][0-9]?))$`,
		`a.c|\[x\]`: `^(?:(?:a[^\n]c|\[x\]))$`, `\A\.\z`: `^(?:^\.$)$`, `[[:alpha:]_]{2,}?`: `^(?:[A-Z_a-z]{2,}?)$`, `[\]^\-]`: `^(?:[\-\]\^])$`, `\x{1F600}`: "", `\bx`: "", `\pL`: "", `[^\x00-\x{10FFFF}]`: "",
	} {
		schema := object{"description": "A word."}
		expression(schema, re2)
		got, _ := schema["pattern"].(string)
		if got != want || (want == "") != strings.HasPrefix(fmt.Sprint(schema["description"]), "A word. Matches the expression ") {
			t.Errorf("R09 %s: %v, want %s", re2, schema, want)
		}
	}
}
