package harness

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"sync"
	"testing"
)

// programMain is what xcaddy generates for a build with the gateway.
const programMain = `package main

import (
	caddycmd "github.com/caddyserver/caddy/v2/cmd"
	_ "github.com/caddyserver/caddy/v2/modules/standard"
	_ "github.com/gatehouse/gatehouse/module"
)

func main() { caddycmd.Main() }
`

// Program is the path of the built program: $GATEHOUSE_CADDY, else one that is built
// here, once in a test process.
func Program(t testing.TB) string {
	t.Helper()
	if p := os.Getenv("GATEHOUSE_CADDY"); p != "" {
		return p
	}
	p, err := built()
	if err != nil {
		t.Fatal(err)
	}
	return p
}

var built = sync.OnceValues(func() (string, error) {
	_, here, _, ok := runtime.Caller(0)
	if !ok {
		return "", fmt.Errorf("where the source is, is not known")
	}
	// A directory with a dot in front of its name is no part of the module for ./...
	dir := filepath.Join(filepath.Dir(here), "..", "..", "..", ".build", "program")
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return "", err
	}
	// Packages are tested in parallel: each process writes files of its own and moves
	// them into place.
	own := func(name string) string { return filepath.Join(dir, fmt.Sprintf("%d-%s", os.Getpid(), name)) }
	if err := os.WriteFile(own("main"), []byte(programMain), 0o644); err != nil {
		return "", err
	}
	if err := os.Rename(own("main"), filepath.Join(dir, "main.go")); err != nil {
		return "", err
	}
	cmd := exec.Command("go", "build", "-trimpath", "-o", own("caddy"), "./main.go")
	cmd.Dir = dir
	if out, err := cmd.CombinedOutput(); err != nil {
		return "", fmt.Errorf("building the program: %w: %s", err, bytes.TrimSpace(out))
	}
	program := filepath.Join(dir, "caddy")
	return program, os.Rename(own("caddy"), program)
})
