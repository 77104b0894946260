package main

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
)

// bareMain is what xcaddy generates for a Caddy without further modules.
const bareMain = `package main

import (
	caddycmd "github.com/caddyserver/caddy/v2/cmd"
	_ "github.com/caddyserver/caddy/v2/modules/standard"
)

func main() { caddycmd.Main() }
`

// buildBare builds Caddy as xcaddy does, of the version in go.mod and without Gatehouse, and
// returns its path.
func buildBare(dir string) (string, error) {
	source, program := filepath.Join(dir, "main.go"), filepath.Join(dir, "caddy")
	if err := os.WriteFile(source, []byte(bareMain), 0o644); err != nil {
		return "", err
	}
	out, err := exec.Command("go", "build", "-trimpath", "-ldflags=-s", "-o", program, source).CombinedOutput()
	if err != nil {
		return "", fmt.Errorf("building bare Caddy: %w: %s", err, bytes.TrimSpace(out))
	}
	return program, nil
}
