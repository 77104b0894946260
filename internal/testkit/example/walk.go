package example

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/gatehouse/gatehouse/internal/testkit/console"
	"github.com/gatehouse/gatehouse/internal/testkit/harness"
)

// Walk runs the shell in the README of the copy line by line, each of which must succeed,
// and returns what it wrote. It must leave no file behind.
func (e *Example) Walk(t testing.TB) string {
	t.Helper()
	before := e.pageFiles(t)
	file := filepath.Join(t.TempDir(), "walkthrough.sh")
	harness.FailOn(t, os.WriteFile(file, []byte(shellBlocks(e.Read(t, "README.md"))), 0o600))
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	// The trap names the line that failed; a pipe's part or a function's line counts.
	cmd := exec.CommandContext(ctx, "bash", "-Eeuo", "pipefail", "-c",
		`trap 'echo "README.md:$LINENO: $BASH_COMMAND: status $?" >&2' ERR; . "$0"`, file)
	cmd.Dir, cmd.Env, cmd.WaitDelay = e.Dir, e.Env, time.Second
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	if after := e.pageFiles(t); !slices.Equal(before, after) {
		t.Errorf("the README leaves files behind: there were %q, there are %q", before, after)
	}
	return string(out)
}

// Follow does what the README of the copy says, and compares what its commands print with what it shows.
func (e *Example) Follow(t testing.TB) {
	t.Helper()
	console.Follow(t, "README.md", e.Read(t, "README.md"), e.Dir, e.Env)
}

// pageFiles are those that a reader sees.
func (e *Example) pageFiles(t testing.TB) (names []string) {
	t.Helper()
	entries, err := os.ReadDir(e.Dir)
	harness.FailOn(t, err)
	for _, f := range entries {
		if !f.IsDir() {
			names = append(names, f.Name())
		}
	}
	return names
}

// shellBlocks is what stands between ```sh and ``` in a page, each line where the page has it, so
// that the shell's line numbers are the page's.
func shellBlocks(page string) string {
	var script strings.Builder
	inside := false
	for line := range strings.SplitSeq(page, "\n") {
		switch {
		case line == "```sh":
			inside, line = true, ""
		case line == "```":
			inside = false
		}
		if inside {
			script.WriteString(line)
		}
		script.WriteString("\n")
	}
	return script.String()
}

// Promised checks that an output has all that the text promises, in its order.
func Promised(t testing.TB, output string, promises ...string) {
	t.Helper()
	rest := output
	for _, want := range promises {
		_, after, found := strings.Cut(rest, want)
		if !found {
			t.Fatalf("no %s in the rest of the output:\n%s\nThe whole:\n%s", want, rest, output)
		}
		rest = after
	}
}
