//go:build !race

// One goroutine reads large schemas, which takes long with -race:
// ./xcaddy.sh test runs tests of files like this without -race.

package validate

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestOversizedSchemaIsOmittedWhole(t *testing.T) {
	dir := t.TempDir()
	small := func(n int) string {
		return `{"properties": {"a": {"$ref": "#/$defs/a"}, "text": {"description": "` + strings.Repeat("x", n) + `"}}, "$defs": {"a": {"type": "string"}}}`
	}
	many := func(n int) string { return `{"allOf": [` + strings.Repeat(`{},`, n-1) + `{}]}` }
	for name, c := range map[string]struct {
		text string
		want bool
	}{
		"small": {small(0), true}, "as large as may be": {small(maxDescribed - 300), true}, "larger": {small(maxDescribed), false},
		"with as many as may be": {many(maxNodes - 1), true}, "with one more": {many(maxNodes), false},
	} {
		t.Run(name, func(t *testing.T) {
			file := filepath.Join(dir, strings.ReplaceAll(name, " ", "-")+".json")
			if err := os.WriteFile(file, []byte(c.text), 0o600); err != nil {
				t.Fatal(err)
			}
			s, err := Compile(nil, &Schema{File: file})
			if err != nil {
				t.Fatal(err)
			}
			d := newDescribed()
			d.Body(schemaOf(t, "author.json", ""), false)
			for range 2 {
				if got := d.Body(s, false) != nil; got != c.want {
					t.Errorf("described: %v", got)
				}
				if !c.want && len(d.Named) != 1 {
					t.Errorf("%d names are left of it", len(d.Named)-1)
				}
			}
			if d.Body(schemaOf(t, "author.json", ""), false) == nil || d.Named["Author"] == nil {
				t.Error("what was described before is not")
			}
		})
	}
	if d := newDescribed(); d.Body(nil, false) != nil || d.Members(new(Set)) != nil {
		t.Error("nothing is described")
	}
}
