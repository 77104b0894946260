package arch

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"reflect"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/caddyserver/caddy/v2"

	_ "github.com/gatehouse/gatehouse/module"
)

// says matches a comment that tells what holds without the field: a default, or that it is required.
var says = regexp.MustCompile(`(?i)default|required|absent|without|omitted|empty|or none|otherwise`)

// Of fields with a unit the comment says the value that holds without them, and counts bytes in bytes. Durations
// of Caddy may be texts in JSON, those of Go are nanoseconds alone.
var (
	saysDuration = regexp.MustCompile(`Required\.|Default: (?:no limit|0\b|` + "`?" + `\d+(?:ms|s|m|h|d)\b)`)
	saysNumber   = regexp.MustCompile(`Required\.|Default: \S`)
	sizeKey      = regexp.MustCompile(`(?:^|_)(?:size|bytes|body|header)$|^token_cache$|^gc_headroom$`)
	memory       = regexp.MustCompile(`Default: [^.]*\b[KMGT]iB\b`)
)

// unit says what the comment of a field lacks that has a unit, "" for nothing.
func unit(field reflect.StructField, key, comment string) string {
	typ := field.Type
	if typ.Kind() == reflect.Pointer {
		typ = typ.Elem()
	}
	switch {
	case typ.Name() == "Duration" && !saysDuration.MatchString(comment):
		return "a default such as `10s`"
	case typ == reflect.TypeFor[time.Duration]() && !strings.Contains(comment, "nanoseconds"):
		return "that JSON has it in nanoseconds"
	case typ.Name() == "Duration" || !typ.ConvertibleTo(reflect.TypeFor[float64]()):
		return ""
	case !saysNumber.MatchString(comment):
		return "a default"
	case (sizeKey.MatchString(key) || memory.MatchString(comment)) && !strings.Contains(comment, "bytes"):
		return "that it counts bytes"
	}
	return ""
}

func TestUnitsAreSaid(t *testing.T) {
	type config struct {
		Caddys caddy.Duration
		Gos    time.Duration
		Size   *int64
		Text   string
	}
	for _, c := range []struct{ field, comment, want string }{
		{"Caddys", "How long. Default: `10s`.", ""},
		{"Caddys", "How long. Default: no limit.", ""},
		{"Caddys", "How long, by default a while.", "a default such as `10s`"},
		{"Caddys", "How long. Default: 10.", "a default such as `10s`"},
		{"Gos", "How long. Default: `1h`.", "that JSON has it in nanoseconds"},
		{"Gos", "How long, in nanoseconds. Default: `1h`.", ""},
		{"Size", "How much. Default: 1 MiB.", "that it counts bytes"},
		{"Size", "How much, without it nothing, in bytes.", "a default"},
		{"Size", "How many bytes. Required.", ""},
		{"Text", "Anything.", ""},
	} {
		field, ok := reflect.TypeFor[config]().FieldByName(c.field)
		if !ok {
			t.Fatal(c.field)
		}
		if got := unit(field, strings.ToLower(c.field), c.comment); got != c.want {
			t.Errorf("%s, %q: %q, want %q", c.field, c.comment, got, c.want)
		}
	}
}

// Caddy's website and editors show the comments of fields: each says what the field means, and what
// holds if it is absent. Only of a flag, which is off by default, and of a part that has fields of its own that goes without saying.
func TestEveryConfigFieldIsDocumented(t *testing.T) {
	types := make(map[string]reflect.Type)
	for _, id := range caddy.Modules() {
		info, err := caddy.GetModule(id)
		if err != nil {
			t.Fatal(err)
		}
		collectTypes(reflect.TypeOf(info.New()), types)
	}
	if len(types) < 50 {
		t.Fatalf("%d types of the configuration", len(types))
	}
	parsed := make(map[string]map[string]*ast.StructType)
	fields := 0
	for name, typ := range types {
		dir := filepath.Join("..", "..", strings.TrimPrefix(typ.PkgPath(), strings.TrimSuffix(mod, "/")))
		if parsed[dir] == nil {
			parsed[dir] = structsIn(t, dir)
		}
		declared := parsed[dir][typ.Name()]
		if declared == nil {
			t.Errorf("%s is not declared in %s", name, dir)
			continue
		}
		for _, f := range declared.Fields.List {
			if len(f.Names) == 0 || f.Tag == nil || !f.Names[0].IsExported() {
				continue
			}
			key, _, _ := strings.Cut(reflect.StructTag(strings.Trim(f.Tag.Value, "`")).Get("json"), ",")
			if key == "" || key == "-" {
				continue
			}
			fields++
			field, ok := typ.FieldByName(f.Names[0].Name)
			comment := f.Doc.Text()
			switch {
			case !ok || len(f.Names) > 1:
				t.Errorf("%s.%s: each field has a line of its own", name, f.Names[0].Name)
			case len(strings.Fields(comment)) < 3:
				t.Errorf("%s.%s has no comment that says what it means", name, field.Name)
			case !implied(field.Type) && !says.MatchString(comment):
				t.Errorf("%s.%s: the comment does not say what holds without it: %s", name, field.Name, comment)
			case unit(field, key, comment) != "":
				t.Errorf("%s.%s: the comment does not say %s: %s", name, field.Name, unit(field, key, comment), comment)
			}
		}
	}
	if fields < 200 {
		t.Errorf("only %d fields were looked at", fields)
	}
}

// collectTypes adds the structs of ours that a configuration of type t consists of.
func collectTypes(t reflect.Type, into map[string]reflect.Type) {
	switch t.Kind() {
	case reflect.Pointer, reflect.Slice, reflect.Array, reflect.Map:
		collectTypes(t.Elem(), into)
	case reflect.Struct:
		name := t.PkgPath() + "." + t.Name()
		if !strings.HasPrefix(t.PkgPath(), strings.TrimSuffix(mod, "/")) || into[name] != nil {
			return
		}
		into[name] = t
		for f := range t.Fields() {
			key, _, _ := strings.Cut(f.Tag.Get("json"), ",")
			if f.IsExported() && key != "-" && (key != "" || f.Anonymous) {
				collectTypes(f.Type, into)
			}
		}
	}
}

// implied reports whether the zero value of a type says itself what holds without the field.
func implied(t reflect.Type) bool {
	if t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	return t.Kind() == reflect.Bool || t.Kind() == reflect.Struct
}

// structsIn parses the structs that a package declares.
func structsIn(t *testing.T, dir string) map[string]*ast.StructType {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(dir, "*.go"))
	if err != nil {
		t.Fatal(err)
	}
	found := make(map[string]*ast.StructType)
	for _, file := range files {
		if strings.HasSuffix(file, "_test.go") {
			continue
		}
		source, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.ParseComments)
		if err != nil {
			t.Fatal(err)
		}
		ast.Inspect(source, func(n ast.Node) bool {
			if spec, ok := n.(*ast.TypeSpec); ok {
				if s, ok := spec.Type.(*ast.StructType); ok {
					found[spec.Name.Name] = s
				}
			}
			return true
		})
	}
	return found
}
