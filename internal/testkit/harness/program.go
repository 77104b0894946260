package harness

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"sync"
	"testing"
)

// programMain is the main package that xcaddy generates for a build with the gateway.
const programMain = `package main

import (
	caddycmd "github.com/caddyserver/caddy/v2/cmd"
	_ "github.com/caddyserver/caddy/v2/modules/standard"
	_ "github.com/gatehouse/gatehouse/module"
)

func main() { caddycmd.Main() }
`

// Program returns the path of the built program: $GATEHOUSE_CADDY, or one that is built once in a test process.
func Program(t testing.TB) string {
	t.Helper()
	if p := os.Getenv("GATEHOUSE_CADDY"); p != "" {
		return p
	}
	p, err := built()
	FailOn(t, err)
	return p
}

// Command builds a command of this module, once in a test process, and returns its path.
func Command(t testing.TB, pkg string) string {
	t.Helper()
	once, _ := commands.LoadOrStore(pkg, sync.OnceValues(func() (string, error) {
		dir, err := programDir()
		if err != nil {
			return "", err
		}
		return buildProgram(dir, pkg, path.Base(pkg))
	}))
	p, err := once.(func() (string, error))()
	FailOn(t, err)
	return p
}

var commands sync.Map // import path -> func() (string, error)

var built = sync.OnceValues(func() (string, error) {
	dir, err := programDir()
	if err != nil {
		return "", err
	}
	if err := os.WriteFile(tempName(dir, "main"), []byte(programMain), 0o644); err != nil {
		return "", err
	}
	if err := os.Rename(tempName(dir, "main"), filepath.Join(dir, "main.go")); err != nil {
		return "", err
	}
	return buildProgram(dir, "./main.go", "caddy")
})

// programDir returns the directory for built programs, and creates it if necessary. Its name begins with a dot, so that
// ./... ignores it.
func programDir() (string, error) {
	root, err := moduleRoot()
	if err != nil {
		return "", err
	}
	dir := filepath.Join(root, ".build", "program")
	return dir, os.MkdirAll(dir, 0o755)
}

// moduleRoot returns the nearest directory above with a go.mod. go test runs a test in its package's directory; the
// runtime has no source path under -trimpath.
func moduleRoot() (string, error) {
	dir, err := os.Getwd()
	if err != nil {
		return "", err
	}
	for {
		if _, err := os.Stat(filepath.Join(dir, "go.mod")); err == nil {
			return dir, nil
		}
		parent := filepath.Dir(dir)
		if parent == dir {
			return "", errors.New("no go.mod in the working directory or above it")
		}
		dir = parent
	}
}

// tempName returns a name for a temporary file that is moved into place. Packages are tested in parallel, so each
// process writes its own.
func tempName(dir, name string) string {
	return filepath.Join(dir, fmt.Sprintf("%d-%s", os.Getpid(), name))
}

func buildProgram(dir, pkg, name string) (string, error) {
	cmd := exec.Command("go", "build", "-trimpath", "-o", tempName(dir, name), pkg)
	cmd.Dir = dir
	if out, err := cmd.CombinedOutput(); err != nil {
		return "", fmt.Errorf("building %s: %w: %s", name, err, bytes.TrimSpace(out))
	}
	program := filepath.Join(dir, name)
	return program, os.Rename(tempName(dir, name), program)
}
