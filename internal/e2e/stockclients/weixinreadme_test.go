package stockclients

import (
	"os"
	"strings"
	"testing"
)

// Every setting that the README names for a library is one with which a test runs it.
func TestREADMELibrarySettingsAreTested(t *testing.T) {
	page, err := os.ReadFile("../../../" + variantBPage)
	if err != nil {
		t.Fatal(err)
	}
	sources := make(map[string]string)
	for library, file := range map[string]string{
		"goth": "weixin_test.go", "golang.org/x/oauth2": "weixin_test.go", "passport-weixin": "../../../.ci/node/weixin.js", "passport-wechat": "../../../.ci/node/weixin.js", "grant": "../../../.ci/node/weixin.js",
	} {
		raw, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		sources[library] = string(raw)
	}
	_, table, _ := strings.Cut(string(page), "\n## Stock libraries\n")
	table, _, _ = strings.Cut(table, "\n## ")
	library, settings, seen := "", 0, make(map[string]bool)
	for row := range strings.Lines(table) {
		cells := strings.Split(row, "|")
		if len(cells) != 5 || !strings.Contains(cells[2], "`") {
			continue
		}
		if name, _, ok := strings.Cut(strings.TrimPrefix(strings.TrimSpace(cells[1]), "["), "]"); ok {
			library = name
		}
		source := sources[library]
		if source == "" {
			t.Fatalf("a row without a library: %s", row)
		}
		for _, cell := range cells[2:4] {
			for i, part := range strings.Split(cell, "`") {
				if i%2 == 0 {
					continue
				}
				part = strings.TrimPrefix(part, "https://id.example.com")
				if !strings.Contains(source, part) {
					t.Errorf("%s: %s is not what the test runs", library, part)
				}
				settings, seen[library] = settings+1, true
			}
		}
	}
	if settings < 30 || len(seen) != len(sources) {
		t.Errorf("%d settings of %v", settings, seen)
	}
}
