package harness

import (
	"bufio"
	"context"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// Node runs a script of .ci/node, which may have arguments, and returns the end of its output. The test's package must be
// two folders below the module's root. A line "open ADDRESS" of the script is answered with the result of open. env is
// added to the environment.
func Node(t testing.TB, limit time.Duration, script string, env []string, open func(address string) string) string {
	t.Helper()
	dir := filepath.Join("..", "..", "..", ".ci", "node")
	if _, err := os.Stat(filepath.Join(dir, "node_modules", "playwright-core")); err != nil {
		t.Fatal("the browser driver and the stock clients are not installed: run ./xcaddy.sh test in the top folder, which does that first: ", err)
	}
	return runScript(t, limit, dir, "node", strings.Fields(script), env, open)
}

// Python is Node for a script of .ci/python. It uses the system's Python, for which the distribution packages the stock
// clients.
func Python(t testing.TB, limit time.Duration, script string, env []string, open func(address string) string) string {
	t.Helper()
	const python = "/usr/bin/python3"
	if out, err := exec.Command(python, "-c", "import social_core, requests_oauthlib").CombinedOutput(); err != nil {
		t.Fatalf("the stock clients in Python are not installed: run ./xcaddy.sh test in the top folder, which does that first: %v %s", err, out)
	}
	return runScript(t, limit, filepath.Join("..", "..", "..", ".ci", "python"), python, []string{"-B", script}, env, open)
}

// runScript runs a script and answers its lines "open ADDRESS".
func runScript(t testing.TB, limit time.Duration, dir, program string, args, env []string, open func(address string) string) string {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), limit)
	defer cancel()
	cmd := exec.CommandContext(ctx, program, args...)
	cmd.Dir, cmd.WaitDelay = dir, 5*time.Second
	cmd.Env = append(os.Environ(), env...)
	stdin, err := cmd.StdinPipe()
	FailOn(t, err)
	stdout, err := cmd.StdoutPipe()
	FailOn(t, err)
	var out Output
	cmd.Stderr = &out
	FailOn(t, cmd.Start())
	for lines := bufio.NewScanner(io.TeeReader(stdout, &out)); lines.Scan(); {
		address, asked := strings.CutPrefix(lines.Text(), "open ")
		if !asked {
			continue
		}
		if _, err := io.WriteString(stdin, open(address)+"\n"); err != nil {
			t.Error(args, "does not take an answer:", err)
		}
	}
	if err := cmd.Wait(); err != nil {
		t.Errorf("%v: %v (at most %v)\n%s", args, err, limit, &out)
	}
	return out.String()
}

// Pictures returns a directory for screenshots. To keep them, name a directory in GATEHOUSE_SCREENSHOTS, in which each
// package has its own.
func Pictures(t testing.TB, own string) string {
	t.Helper()
	kept := os.Getenv("GATEHOUSE_SCREENSHOTS")
	if kept == "" {
		return t.TempDir()
	}
	dir, err := filepath.Abs(filepath.Join(kept, own))
	if err == nil {
		err = os.MkdirAll(dir, 0o755)
	}
	FailOn(t, err)
	return dir
}
