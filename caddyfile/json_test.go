package caddyfile_test

import (
	"bytes"
	"encoding/json"
	"os"
	"reflect"
	"regexp"
	"strings"
	"testing"

	"github.com/caddyserver/caddy/v2"
	"github.com/caddyserver/caddy/v2/caddyconfig/caddyfile"

	"github.com/gatehouse/gatehouse/module/gateway"
)

// A Caddyfile of json.md, and what it is in JSON.
var jsonPair = regexp.MustCompile("(?s)```caddyfile\n(.*?)```\n\n```json\n(.*?)```")

// shown is what json.md shows of an adapted configuration: the app, or the routes of the only site.
func shown(t *testing.T, config string) string {
	t.Helper()
	var c struct {
		Apps struct {
			Gatehouse json.RawMessage
			HTTP      *struct {
				Servers map[string]struct {
					Routes []struct {
						Handle []struct{ Routes json.RawMessage }
					}
				}
			}
		}
	}
	if err := json.Unmarshal([]byte(config), &c); err != nil {
		t.Fatalf("%v: %s", err, config)
	}
	part := c.Apps.Gatehouse
	if c.Apps.HTTP != nil {
		part = c.Apps.HTTP.Servers["srv0"].Routes[0].Handle[0].Routes
	}
	var pretty bytes.Buffer
	if err := json.Indent(&pretty, part, "", "\t"); err != nil {
		t.Fatal(err)
	}
	return pretty.String() + "\n"
}

// TestJSONDocsPageIsCurrent adapts each Caddyfile of json.md. -update writes the JSON into the page.
func TestJSONDocsPageIsCurrent(t *testing.T) {
	raw, err := os.ReadFile("json.md")
	if err != nil {
		t.Fatal(err)
	}
	pairs := 0
	page := jsonPair.ReplaceAllStringFunc(string(raw), func(pair string) string {
		pairs++
		m := jsonPair.FindStringSubmatch(pair)
		text := m[1]
		if !strings.HasPrefix(text, "{") {
			text = "{\n\tgatehouse {\n\t\tissuer https://id.example.com\n\t\tscope articles:read Read\n\t\tscope articles:write Write\n\t}\n}\napi.example.com {\n" + text + "}\n"
		}
		got := shown(t, adapt(t, text))
		if got != m[2] && !*update {
			t.Errorf("%s\nis in JSON\n%s\nbut the page says\n%s", m[1], got, m[2])
		}
		return "```caddyfile\n" + m[1] + "```\n\n```json\n" + got + "```"
	})
	if pairs < 10 {
		t.Errorf("the page has %d pairs", pairs)
	}
	if *update {
		if err := os.WriteFile("json.md", []byte(page), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for _, id := range caddy.Modules() {
		if ours(t, id) && !strings.Contains(page, "`"+id+"`") {
			t.Errorf("json.md does not name the module %s", id)
		}
	}
}

// ours reports whether a module is one of Gatehouse's.
func ours(t *testing.T, id string) bool {
	t.Helper()
	info, err := caddy.GetModule(id)
	if err != nil {
		t.Fatal(err)
	}
	typ := reflect.TypeOf(info.New())
	for typ.Kind() == reflect.Pointer {
		typ = typ.Elem()
	}
	return strings.HasPrefix(typ.PkgPath(), "github.com/gatehouse/gatehouse/")
}

// goldenConfigs calls do with each golden file that is not about an error.
func goldenConfigs(t *testing.T, do func(t *testing.T, input, config string)) {
	t.Helper()
	entries, err := os.ReadDir("testdata")
	if err != nil {
		t.Fatal(err)
	}
	found := 0
	for _, e := range entries {
		name, golden := strings.CutSuffix(e.Name(), ".caddyfiletest")
		if !golden || strings.HasPrefix(name, "error") {
			continue
		}
		found++
		t.Run(name, func(t *testing.T) {
			raw, err := os.ReadFile("testdata/" + e.Name())
			if err != nil {
				t.Fatal(err)
			}
			input, config, _ := strings.Cut(string(raw), line+"\n")
			do(t, input, strings.TrimSpace(config))
		})
	}
	if found < 50 {
		t.Errorf("%d golden files", found)
	}
}

var sourceLine = regexp.MustCompile(`"source": "Caddyfile:[^"]*"`)

// `caddy fmt` changes no meaning, and what it has formatted stays as it is.
func TestFormattingKeepsTheMeaning(t *testing.T) {
	goldenConfigs(t, func(t *testing.T, input, config string) {
		formatted := caddyfile.Format([]byte(input))
		if again := caddyfile.Format(formatted); !bytes.Equal(again, formatted) {
			t.Errorf("formatted twice:\n%s\nformatted once:\n%s", again, formatted)
		}
		without := func(text string) string { return sourceLine.ReplaceAllString(text, "") }
		if got := adapt(t, string(formatted)); without(got) != without(config) {
			t.Errorf("formatted it becomes\n%s\nnot\n%s", got, config)
		}
	})
}

// What a Caddyfile becomes has no field that its type lacks, and each field is read as it was
// written: whoever goes on with the output of `caddy adapt` loses nothing.
func TestAdaptedJSONLosesNoField(t *testing.T) {
	handlers := 0
	goldenConfigs(t, func(t *testing.T, _, config string) {
		var c map[string]any
		if err := json.Unmarshal([]byte(config), &c); err != nil {
			t.Fatal(err)
		}
		apps, _ := c["apps"].(map[string]any)
		if app, ok := apps["gatehouse"]; ok {
			readWhole(t, new(gateway.App), app)
		}
		var walk func(v any)
		walk = func(v any) {
			switch v := v.(type) {
			case []any:
				for _, e := range v {
					walk(e)
				}
			case map[string]any:
				name, _ := v["handler"].(string)
				if info, err := caddy.GetModule("http.handlers." + name); name != "" && err == nil && ours(t, string(info.ID)) {
					handlers++
					delete(v, "handler")
					readWhole(t, info.New(), v)
				}
				for _, e := range v {
					walk(e)
				}
			}
		}
		walk(apps["http"])
	})
	if handlers < 50 {
		t.Errorf("%d handlers were read", handlers)
	}
}

func readWhole(t *testing.T, into, value any) {
	t.Helper()
	text, err := json.Marshal(value)
	if err != nil {
		t.Fatal(err)
	}
	if err := caddy.StrictUnmarshalJSON(text, into); err != nil {
		t.Errorf("%T: %v in %s", into, err, text)
		return
	}
	again, err := json.Marshal(into)
	if err != nil {
		t.Fatal(err)
	}
	var read any
	if err := json.Unmarshal(again, &read); err != nil {
		t.Fatal(err)
	}
	if !reflect.DeepEqual(read, value) {
		t.Errorf("%T is read as\n%s\nnot\n%s", into, again, text)
	}
}
