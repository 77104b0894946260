package cluster

import (
	"context"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/gatehouse/gatehouse/module/internal/harness"
)

// top is the top folder, as tests here see it.
var top = filepath.Join("..", "..", "..")

// shippedPorts are those that examples/cluster listens on, and one where an application
// would be.
var shippedPorts = []string{"8080", "8081", "8083", "8180", "8181", "8280", "8281", "8380", "8381", "2019", "2119", "2219", "6380", "8082"}

// example is a copy of examples/cluster on free ports.
type example struct {
	dir   string
	ports *strings.Replacer
	addrs []string
	env   []string
}

func copyExample(t *testing.T) *example {
	t.Helper()
	e := &example{dir: filepath.Join(t.TempDir(), "examples", "cluster")}
	var pairs []string
	for i, port := range harness.FreePorts(t, len(shippedPorts)) {
		pairs = append(pairs, shippedPorts[i], fmt.Sprint(port))
		e.addrs = append(e.addrs, fmt.Sprintf("127.0.0.1:%d", port))
	}
	e.ports = strings.NewReplacer(pairs...)
	if err := os.MkdirAll(e.dir, 0o755); err != nil {
		t.Fatal(err)
	}
	files, err := filepath.Glob(filepath.Join(top, "examples", "cluster", "*.*"))
	if err != nil || len(files) < 5 {
		t.Fatalf("%q %v", files, err)
	}
	for _, file := range append(files, filepath.Join(top, "examples", "cluster", "Caddyfile")) {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(e.dir, filepath.Base(file)), []byte(e.ports.Replace(string(text))), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	program, err := filepath.Abs(harness.Program(t))
	if err != nil {
		t.Fatal(err)
	}
	// ../../caddy, as the README calls it.
	if err := os.Symlink(program, filepath.Join(e.dir, "..", "..", "caddy")); err != nil {
		t.Fatal(err)
	}
	e.env = append(os.Environ(), "XDG_DATA_HOME="+e.dir, "XDG_CONFIG_HOME="+e.dir, "GATEHOUSE_STATE="+filepath.Join(e.dir, "state"))
	return e
}

// run starts run.sh, waits until it says that everything is there, and ends it with the
// test as a service manager does.
func (e *example) run(t *testing.T) {
	t.Helper()
	legacy := filepath.Join(t.TempDir(), "legacy")
	if out, err := exec.Command("go", "build", "-o", legacy, "github.com/gatehouse/gatehouse/examples/legacy").CombinedOutput(); err != nil {
		t.Fatalf("building legacy: %v: %s", err, out)
	}
	out, done := new(harness.Output), make(chan error, 1)
	cmd := exec.Command(filepath.Join(e.dir, "run.sh"), filepath.Join(e.dir, "..", "..", "caddy"), legacy)
	cmd.Env, cmd.Stdout, cmd.Stderr, cmd.WaitDelay = e.env, out, out, time.Second
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	go func() { done <- cmd.Wait() }()
	t.Cleanup(func() {
		_ = cmd.Process.Signal(syscall.SIGTERM)
		select {
		case err := <-done:
			if err != nil {
				t.Errorf("run.sh at SIGTERM: %v\n%s", err, out)
			}
		case <-time.After(20 * time.Second):
			_ = cmd.Process.Kill()
			t.Errorf("run.sh does not stop\n%s", out)
		}
		for _, addr := range e.addrs {
			if c, err := net.Dial("tcp", addr); err == nil {
				_ = c.Close()
				t.Errorf("%s is still listened on after run.sh has ended", addr)
			}
		}
		if t.Failed() {
			logs, _ := exec.Command("sh", "-c", `tail -n 20 "$0"/state/*.log`, e.dir).CombinedOutput()
			t.Logf("run.sh wrote:\n%s\nThe logs end:\n%s", out, logs)
		}
	})
	for deadline := time.Now().Add(time.Minute); !strings.Contains(out.String(), "Stop with Ctrl-C"); time.Sleep(20 * time.Millisecond) {
		if len(done) > 0 || time.Now().After(deadline) {
			t.Fatalf("run.sh is not ready\n%s", out)
		}
	}
}

func TestTheExampleRunsAndItsREADMEWorksLineByLine(t *testing.T) {
	e := copyExample(t)
	e.run(t)
	page, err := os.ReadFile(filepath.Join(e.dir, "README.md"))
	if err != nil {
		t.Fatal(err)
	}
	var script strings.Builder
	for _, block := range regexp.MustCompile("(?ms)^```sh\n(.*?)^```$").FindAllStringSubmatch(string(page), -1) {
		script.WriteString(block[1])
	}
	file := filepath.Join(t.TempDir(), "walkthrough.sh")
	if err := os.WriteFile(file, []byte(script.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, "bash", "-Eeuo", "pipefail", "-c", `trap 'echo "failed: $BASH_COMMAND: status $?" >&2' ERR; . "$0"`, file)
	cmd.Dir, cmd.Env, cmd.WaitDelay = e.dir, e.env, time.Second
	said, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, said)
	}
	// What the text promises, in its order: the count goes on while nodes change and die.
	rest := strings.ToLower(string(said))
	for _, want := range []string{
		"remaining: 999", "remaining: 998", "remaining: 997", "remaining: 996", "remaining: 995", "remaining: 994", "remaining: 993",
		`"ready"`, "401", "401", "401", "gatehouse:",
	} {
		_, after, found := strings.Cut(rest, want)
		if !found {
			t.Fatalf("no %s in the rest of the output:\n%s\nThe whole:\n%s", want, rest, said)
		}
		rest = after
	}
	before, after, _ := strings.Cut(string(said), "Remaining: 997")
	for n, text := range map[int]string{3: before, 2: after[:strings.Index(after, `"ready"`)]} {
		answered := make(map[string]bool)
		for _, m := range regexp.MustCompile(`(?i)x-node: (\d)`).FindAllStringSubmatch(text, -1) {
			answered[m[1]] = true
		}
		if len(answered) != n || n == 2 && answered["2"] {
			t.Errorf("answered by %v, of %d nodes", answered, n)
		}
	}
	for _, name := range []string{"env", "redis.conf"} {
		info, err := os.Stat(filepath.Join(e.dir, "state", name))
		if err != nil || info.Mode().Perm()&0o077 != 0 {
			t.Errorf("state/%s can be read by others: %v %v", name, info.Mode(), err)
		}
	}
}

func TestTheExampleNamesAPortThatIsTaken(t *testing.T) {
	e := copyExample(t)
	l, err := net.Listen("tcp", e.addrs[5])
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	cmd := exec.CommandContext(t.Context(), filepath.Join(e.dir, "run.sh"), "/bin/false", "/bin/false")
	cmd.Env = e.env
	out, err := cmd.CombinedOutput()
	_, port, _ := net.SplitHostPort(e.addrs[5])
	if err == nil || !strings.Contains(string(out), "port "+port+" is in use") {
		t.Errorf("%v: %s", err, out)
	}
}
