package validate

import (
	"errors"
	"fmt"
	"path/filepath"
	"runtime"
	"strings"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/gatehouse/gatehouse/module/internal/rest/splice"
	"github.com/gatehouse/gatehouse/module/internal/rest/turns"
	"github.com/gatehouse/gatehouse/module/rest/envelope"
)

// schema is what a file requires of a body: of a complete one, and of a PATCH.
type schema struct {
	whole, partial *jsonschema.Schema
	effort         *effort
	turns          *turns.Turns
}

const (
	// largeBody is how many bytes of values are checked against a schema without waiting for a turn.
	largeBody = 16 << 10
	// largeEffort is how many checks a smaller body may take without waiting for a turn: a tenth of a second.
	largeEffort = 50_000
)

// largeTurns are the turns of large bodies, for all schemas together; half of the processors are left to other requests.
// The validator reports every fault: a list of 100,000 elements that are all wrong, 200 KB, takes a second and 90 MiB.
var largeTurns = turns.New(max(1, runtime.GOMAXPROCS(0)/2))

// load reads and compiles a schema. It reads only files.
func load(s Schema) (*schema, error) {
	if s.File == "" {
		return nil, fmt.Errorf("schema: expected a file")
	}
	pointer := strings.TrimPrefix(s.Pointer, "#")
	place := s.File
	if pointer != "" {
		place += "#" + pointer
	}
	path, err := splice.ParsePointer(pointer)
	if err != nil {
		return nil, fmt.Errorf("schema %s: pointer %s: %w", s.File, s.Pointer, err)
	}
	absolute, err := filepath.Abs(s.File)
	if err != nil {
		return nil, fmt.Errorf("schema %s: %w", s.File, err)
	}
	at := address(absolute)
	files := files{seen: make(map[string]any)}
	doc, err := files.Load(at)
	if err != nil {
		return nil, fmt.Errorf("schema %w", err)
	}
	draft, old, err := dialect(doc, len(path) > 0)
	if err != nil {
		return nil, fmt.Errorf("schema %s: %w", s.File, err)
	}
	if files.old = old; old {
		modern(doc)
	}
	c := jsonschema.NewCompiler()
	c.UseLoader(&files)
	c.DefaultDraft(draft)
	c.AssertFormat()
	compiled, err := c.Compile(at + fragment(path))
	if err != nil {
		return nil, fmt.Errorf("schema %s: %w", place, explain(err))
	}
	const none = "urn:gatehouse:blank"
	err = c.AddResource(none, map[string]any{"$comment": "no constraints"}) // {} would be compiled to true
	var blank *jsonschema.Schema
	if err == nil {
		blank, err = c.Compile(none)
	}
	if err != nil {
		return nil, fmt.Errorf("schema %s: %w", place, err)
	}
	ask(compiled)
	replaceKeywords(compiled)
	patch := partial(compiled, blank)
	return &schema{compiled, patch, newEffort(compiled, patch), largeTurns}, nil
}

// dialect returns the draft of a document that does not declare one, and whether it is OpenAPI
// 3.0. deep says that the schema is a part of the document.
func dialect(doc any, deep bool) (draft *jsonschema.Draft, old bool, err error) {
	object, _ := doc.(map[string]any)
	version, api := object["openapi"].(string)
	switch {
	case object["swagger"] != nil:
		return nil, false, errors.New("expected OpenAPI 3.0 or 3.1, not Swagger 2.0")
	case !api:
		return jsonschema.Draft2020, false, nil
	case !deep:
		return nil, false, errors.New("expected a pointer to the schema in an OpenAPI document, such as /components/schemas/Article")
	case version == "3.0" || strings.HasPrefix(version, "3.0."):
		return jsonschema.Draft7, true, nil
	case strings.HasPrefix(version, "3."):
		return jsonschema.Draft2020, false, nil
	}
	return nil, false, fmt.Errorf("openapi %s: expected OpenAPI 3.0 or 3.1", version)
}

// modern converts OpenAPI 3.0 and its draft to JSON Schema: nullable permits null in addition to
// the type, and an exclusive bound is a keyword of its own.
func modern(doc any) {
	switch v := doc.(type) {
	case []any:
		for _, element := range v {
			modern(element)
		}
	case map[string]any:
		for _, member := range v {
			modern(member)
		}
		for _, bound := range [][2]string{{"exclusiveMinimum", "minimum"}, {"exclusiveMaximum", "maximum"}} {
			if exclusive, ok := v[bound[0]].(bool); ok {
				delete(v, bound[0])
				if limit, there := v[bound[1]]; exclusive && there {
					v[bound[0]] = limit
					delete(v, bound[1])
				}
			}
		}
		if kind, ok := v["type"].(string); ok && v["nullable"] == true {
			v["type"] = []any{kind, "null"}
			if values, ok := v["enum"].([]any); ok {
				v["enum"] = append(values[:len(values):len(values)], nil)
			}
		}
	}
}

// takeTurn waits for the turn of a large body, which the caller ends by done.
func (s *schema) takeTurn(c turns.Caller) (done func(), refused *envelope.Refusal) {
	done, err := s.turns.Take(c)
	if err != nil {
		return nil, envelope.Unavailable(fmt.Errorf("checking a large body against a schema: %w", err))
	}
	return done, nil
}

// check checks a body.
func (s *schema) check(c turns.Caller, left *Effort, o Object, partial bool) *envelope.Refusal {
	size := 0
	for _, m := range o {
		size += len(m.Name) + len(m.Value)
	}
	if size > largeBody {
		done, refused := s.takeTurn(c)
		if refused != nil {
			return refused
		}
		defer done()
	}
	body := make(map[string]any, len(o))
	for _, m := range o {
		value, err := jsonschema.UnmarshalJSON(strings.NewReader(string(m.Value)))
		if err != nil {
			return envelope.Refuse(400, "the body is not valid JSON")
		}
		body[m.Name] = value
	}
	judge := s.whole
	if partial {
		judge = s.partial
	}
	if left == nil {
		left = NewEffort()
	}
	before := left.checks
	if !s.effort.fits(judge, body, left) {
		return envelope.Refuse(413, "the body cannot be checked: it has too many elements or is nested too deeply")
	}
	if size <= largeBody && before-left.checks > largeEffort {
		done, refused := s.takeTurn(c)
		if refused != nil {
			return refused
		}
		defer done()
	}
	err := judge.Validate(body)
	if err == nil {
		return nil
	}
	var invalid *jsonschema.ValidationError
	if !errors.As(err, &invalid) {
		return envelope.Refuse(400, "the body does not fit the schema")
	}
	return complain(invalid)
}

// explain shortens a compiler's report to one line: where, and what.
func explain(err error) error {
	var wrong *jsonschema.SchemaValidationError
	var invalid *jsonschema.ValidationError
	if errors.As(err, &wrong) && errors.As(wrong.Err, &invalid) {
		leaf := first(invalid)
		return fmt.Errorf("at %s: %s", Field(leaf.path...), leaf.text())
	}
	return errors.New(strings.ReplaceAll(err.Error(), "\n", " "))
}
