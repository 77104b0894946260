package quickstart

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

// node runs a script of .ci/node with the addresses and secrets in its environment and
// returns what it wrote. script may have arguments. A line "open ADDRESS" of it is answered with what open gives.
func (s *stand) node(t *testing.T, limit time.Duration, script string, open func(address string) string, more ...string) string {
	t.Helper()
	dir := filepath.Join(top, ".ci", "node")
	if _, err := os.Stat(filepath.Join(dir, "node_modules", "playwright-core")); err != nil {
		t.Fatal("the browser driver and the stock clients are not installed: run ./xcaddy.sh test in the top folder, which does that first: ", err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), limit)
	defer cancel()
	cmd := exec.CommandContext(ctx, "node", strings.Fields(script)...)
	cmd.Dir, cmd.WaitDelay = dir, 5*time.Second
	cmd.Env = append(s.environ(), "ISSUER="+s.issuer, "API="+s.api, "READER="+s.reader,
		"READER_SECRET="+s.secret(t, "READER_SECRET"), "NIGHTLY_SECRET="+s.secret(t, "NIGHTLY_SECRET"),
		"USERNAME="+username, "PASSWORD="+password)
	cmd.Env = append(cmd.Env, more...)
	stdin, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	var out output
	cmd.Stderr = &out
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	for lines := bufio.NewScanner(io.TeeReader(stdout, &out)); lines.Scan(); {
		address, asked := strings.CutPrefix(lines.Text(), "open ")
		if !asked {
			continue
		}
		if _, err := io.WriteString(stdin, open(address)+"\n"); err != nil {
			t.Error(script, "does not take an answer:", err)
		}
	}
	if err := cmd.Wait(); err != nil {
		t.Errorf("%s: %v (at most %v)\n%s", script, err, limit, &out)
	}
	return out.String()
}
