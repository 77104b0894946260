package book

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/gatehouse/gatehouse/internal/testkit/harness"
)

// pagePort matches the ports that pages write.
var pagePort = regexp.MustCompile(`\b(2019|2020|6379|8080|8081|8082|9000)\b`)

// onOtherPorts puts free ports in the place of those of a page, so that pages can run side by side.
func onOtherPorts(t *testing.T, page string) (string, []string) {
	t.Helper()
	free := map[string]string{"2019": ""} // the admin endpoint, on every page
	for _, p := range pagePort.FindAllString(page, -1) {
		free[p] = ""
	}
	ports := harness.FreePorts(t, len(free))
	for p := range free {
		free[p], ports = strconv.Itoa(ports[0]), ports[1:]
	}
	return pagePort.ReplaceAllStringFunc(page, func(p string) string { return free[p] }), []string{"CADDY_ADMIN=localhost:" + free["2019"]}
}

// runShell runs a script in a folder of its own and ends what it leaves behind.
func runShell(t *testing.T, script string, env []string) string {
	t.Helper()
	dir, data := t.TempDir(), t.TempDir()
	harness.FailOn(t, os.Symlink(harness.Program(t), filepath.Join(dir, "caddy")))
	out, err := os.Create(filepath.Join(t.TempDir(), "out")) // a pipe would stay open until the last program ends
	harness.FailOn(t, err)
	defer func() { _ = out.Close() }()
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, "bash", "-c", script)
	cmd.Dir, cmd.Stdout, cmd.Stderr = dir, out, out
	cmd.Env = append(append(os.Environ(), "XDG_DATA_HOME="+data, "XDG_CONFIG_HOME="+data, "HOME="+data), env...)
	cmd.SysProcAttr = &unix.SysProcAttr{Setsid: true}
	t.Cleanup(func() { endSession(cmd.Process.Pid) })
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
