//go:build unix

package console

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/gatehouse/gatehouse/internal/testkit/harness"
)

// runShell runs a script in a folder and ends what it leaves behind.
func runShell(t testing.TB, script, dir string, env []string) string {
	t.Helper()
	out, err := os.Create(filepath.Join(t.TempDir(), "out")) // a pipe would stay open until the last program ends
	harness.FailOn(t, err)
	defer func() { _ = out.Close() }()
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, "bash", "-c", script)
	cmd.Dir, cmd.Env, cmd.Stdout, cmd.Stderr = dir, env, out, out
	cmd.SysProcAttr = &unix.SysProcAttr{Setsid: true}
	t.Cleanup(func() {
		if cmd.Process != nil {
			endSession(cmd.Process.Pid)
		}
	})
	if err := cmd.Run(); err != nil {
		t.Logf("the shell ended with %v", err)
	}
	text, err := os.ReadFile(out.Name())
	harness.FailOn(t, err)
	return string(text)
}

// endSession kills the programs that a shell with a session of its own has started.
func endSession(session int) {
	stats, _ := filepath.Glob("/proc/[0-9]*/stat")
	for _, file := range stats {
		text, err := os.ReadFile(file)
		if err != nil {
			continue
		}
		// pid (name) state ppid group session
		fields := strings.Fields(string(text[strings.LastIndexByte(string(text), ')')+1:]))
		if len(fields) > 3 && fields[3] == strconv.Itoa(session) {
			if pid, err := strconv.Atoi(filepath.Base(filepath.Dir(file))); err == nil {
				_ = unix.Kill(pid, unix.SIGKILL)
			}
		}
	}
}
