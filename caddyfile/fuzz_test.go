package caddyfile_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/caddyserver/caddy/v2/caddyconfig"
)

// Whatever is written, adapting it ends with a configuration that is JSON or an error that
// names a line, never with a panic.
func FuzzCaddyfile(f *testing.F) {
	files, err := filepath.Glob("testdata/*.caddyfiletest")
	if err != nil || len(files) == 0 {
		f.Fatal("no seeds: ", err)
	}
	for _, file := range files {
		raw, err := os.ReadFile(file)
		if err != nil {
			f.Fatal(err)
		}
		input, _, _ := strings.Cut(string(raw), line+"\n")
		f.Add(input)
	}
	adapter := caddyconfig.GetAdapter("caddyfile")
	f.Fuzz(func(t *testing.T, input string) {
		if strings.Contains(input, "import") { // reads files
			return
		}
		config, _, err := adapter.Adapt([]byte(input), map[string]any{"filename": "Caddyfile"})
		if err == nil && !json.Valid(config) {
			t.Errorf("no JSON: %s", config)
		}
	})
}
