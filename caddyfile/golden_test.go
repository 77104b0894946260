package caddyfile_test

import (
	"bytes"
	"encoding/json"
	"flag"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/caddyserver/caddy/v2/caddyconfig"
	_ "github.com/caddyserver/caddy/v2/modules/standard"

	_ "github.com/gatehouse/gatehouse/module"
)

var update = flag.Bool("update", false, "write what is adapted now into the golden files")

// helpful errors name file and line, and say what was expected or what to do.
var helpful = regexp.MustCompile(`(?s)(expected|must|needs|is given twice|is declared twice|remove|cannot|write it).*, at Caddyfile:\d+$`)

const line = "----------"

// TestGoldenFiles adapts each file of testdata: a Caddyfile, a line of hyphens, and the JSON it
// becomes or, where the name begins with "error", the error it gets.
func TestGoldenFiles(t *testing.T) {
	files, err := filepath.Glob("testdata/*.caddyfiletest")
	if err != nil || len(files) < 20 {
		t.Fatalf("%d golden files: %v", len(files), err)
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".caddyfiletest"), func(t *testing.T) {
			raw, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			input, want, _ := strings.Cut(string(raw), line+"\n")
			got := adapt(t, input)
			if *update {
				if err := os.WriteFile(file, []byte(input+line+"\n"+got+"\n"), 0o600); err != nil {
					t.Fatal(err)
				}
				return
			}
			if got != strings.TrimSpace(want) {
				t.Errorf("adapted to\n%s\nwant\n%s", got, strings.TrimSpace(want))
			}
			if isError := strings.HasPrefix(filepath.Base(file), "error"); isError != !strings.HasPrefix(got, "{") {
				t.Errorf("an error is expected of the files named so, and of no others: %s", got)
			}
			if strings.HasPrefix(filepath.Base(file), "error") && !helpful.MatchString(got) {
				t.Errorf("the error names no line or not what was expected: %s", got)
			}
		})
	}
}

func adapt(t *testing.T, input string) string {
	t.Helper()
	config, warnings, err := caddyconfig.GetAdapter("caddyfile").Adapt([]byte(input), map[string]any{"filename": "Caddyfile"})
	if err != nil {
		return err.Error()
	}
	for _, w := range warnings {
		if !strings.Contains(w.Message, "not formatted") {
			t.Errorf("warning: %v", w)
		}
	}
	var pretty bytes.Buffer
	if err := json.Indent(&pretty, config, "", "\t"); err != nil {
		t.Fatal(err)
	}
	return pretty.String()
}
