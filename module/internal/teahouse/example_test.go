package teahouse

import (
	"context"
	"fmt"
	"io/fs"
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

// shipped is the example, as tests here see it.
var shipped = filepath.Join("..", "..", "..", "examples", "variant-b")

// example is a copy of examples/variant-b on free ports, that runs.
type example struct {
	dir          string
	issuer, site string
	addrs, env   []string
	programs     []string // caddy, portal
	out          *harness.Output
	done         chan error
}

func copyExample(t *testing.T) *example {
	t.Helper()
	e := &example{dir: filepath.Join(t.TempDir(), "examples", "variant-b"), out: new(harness.Output), done: make(chan error, 1)}
	var pairs []string
	for i, port := range harness.FreePorts(t, 3) {
		pairs = append(pairs, []string{"8080", "8082", "2019"}[i], fmt.Sprint(port))
		e.addrs = append(e.addrs, fmt.Sprintf("127.0.0.1:%d", port))
	}
	ports := strings.NewReplacer(pairs...)
	e.issuer, e.site = ports.Replace("http://localhost:8080"), ports.Replace("http://localhost:8082")
	err := filepath.WalkDir(shipped, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			if err == nil && (d.Name() == "portal" || d.Name() == "state") {
				return fs.SkipDir
			}
			return err
		}
		text, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		to := filepath.Join(e.dir, strings.TrimPrefix(path, shipped))
		if err := os.MkdirAll(filepath.Dir(to), 0o755); err != nil {
			return err
		}
		return os.WriteFile(to, []byte(ports.Replace(string(text))), 0o755)
	})
	if err != nil {
		t.Fatal(err)
	}
	program, err := filepath.Abs(harness.Program(t))
	if err != nil {
		t.Fatal(err)
	}
	// ../../caddy, as the README calls it.
	if err := os.Symlink(program, filepath.Join(e.dir, "..", "..", "caddy")); err != nil {
		t.Fatal(err)
	}
	e.env = append(os.Environ(), "CADDY_ADMIN="+ports.Replace("localhost:2019"), "XDG_DATA_HOME="+e.dir, "XDG_CONFIG_HOME="+e.dir,
		"GATEHOUSE_STATE="+filepath.Join(e.dir, "state"))
	portal := filepath.Join(t.TempDir(), "portal")
	if out, err := exec.Command("go", "build", "-o", portal, "github.com/gatehouse/gatehouse/examples/variant-b/portal").CombinedOutput(); err != nil {
		t.Fatalf("building portal: %v: %s", err, out)
	}
	e.programs = []string{program, portal}
	return e
}

// start runs run.sh, waits until it says that everything is there, and ends it with the
// test as a service manager does.
func start(t *testing.T) *example {
	t.Helper()
	e := copyExample(t)
	cmd := exec.Command(filepath.Join(e.dir, "run.sh"), e.programs...)
	cmd.Env, cmd.Stdout, cmd.Stderr, cmd.WaitDelay = e.env, e.out, e.out, time.Second
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	go func() { e.done <- cmd.Wait() }()
	t.Cleanup(func() {
		_ = cmd.Process.Signal(syscall.SIGTERM)
		select {
		case err := <-e.done:
			if err != nil {
				t.Errorf("run.sh at SIGTERM: %v\n%s", err, e.out)
			}
		case <-time.After(20 * time.Second):
			_ = cmd.Process.Kill()
			t.Errorf("run.sh does not stop\n%s", e.out)
		}
		for _, addr := range e.addrs {
			if c, err := net.Dial("tcp", addr); err == nil {
				_ = c.Close()
				t.Errorf("%s is still listened on after run.sh has ended", addr)
			}
		}
		if t.Failed() {
			log, _ := exec.Command("tail", "-n", "20", filepath.Join(e.dir, "state", "caddy.log")).CombinedOutput()
			t.Logf("run.sh wrote:\n%s\nThe log ends:\n%s", e.out, log)
		}
	})
	for deadline := time.Now().Add(time.Minute); !strings.Contains(e.out.String(), "Stop with Ctrl-C"); time.Sleep(20 * time.Millisecond) {
		if len(e.done) > 0 || time.Now().After(deadline) {
			t.Fatalf("run.sh is not ready\n%s", e.out)
		}
	}
	return e
}

func TestTheExampleRunsAndItsREADMEWorksLineByLine(t *testing.T) {
	e := start(t)
	for _, want := range []string{e.site, e.issuer + "/device", "alice", "correct horse battery staple"} {
		if !strings.Contains(e.out.String(), want) {
			t.Errorf("run.sh does not say %s", want)
		}
	}
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
	rest := string(said)
	for _, want := range []string{ // what the text promises, in its order
		"Lantern Teahouse", "image/", "403", // the first screen
		"Lantern Teahouse", `"wx_errcode":404`, // the phone
		"Alice 爱丽丝", "openid", "unionid", // the site
		`"code":"invalid_grant"`, `"errcode":40163`, "400", // the code a second time
		"verification_uri", "authorization_pending", "Menu board", `"scope":"menu:read"`, // the device
		"client_secret:", "client_id:", "garden", "variant-b", "oven", "device_code", // by a command
		"polls_waiting", `tickets_total{kind="device",outcome="confirmed"} 1`, `tickets_total{kind="scan",outcome="confirmed"} 1`,
	} {
		_, after, found := strings.Cut(rest, want)
		if !found {
			t.Fatalf("no %s in the rest of the output:\n%s\nThe whole:\n%s", want, rest, said)
		}
		rest = after
	}
	secret := regexp.MustCompile(`PORTAL_SECRET=(\S+)`).FindSubmatch(read(t, e, "state/env"))
	if len(secret) != 2 || len(secret[1]) != 43 {
		t.Fatalf("no secret in state/env")
	}
	for _, name := range []string{"state/env", "state/state.db", "state/caddy.log"} {
		if info, err := os.Stat(filepath.Join(e.dir, name)); err != nil || info.Mode().Perm()&0o077 != 0 {
			t.Errorf("%s: others can read it: %v", name, err)
		}
	}
	if log := string(read(t, e, "state/caddy.log")) + e.out.String(); strings.Contains(log, string(secret[1])) {
		t.Error("the secret is in a log")
	}
}

func read(t *testing.T, e *example, name string) []byte {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(e.dir, name))
	if err != nil {
		t.Fatal(err)
	}
	return text
}

func TestRunNamesAPortThatIsTakenAndEndsWithItsPrograms(t *testing.T) {
	e := copyExample(t)
	l, err := net.Listen("tcp", e.addrs[1])
	if err != nil {
		t.Fatal(err)
	}
	run := func(programs ...string) string {
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		cmd := exec.CommandContext(ctx, filepath.Join(e.dir, "run.sh"), programs...)
		cmd.Env, cmd.WaitDelay = e.env, time.Second
		out, err := cmd.CombinedOutput()
		if err == nil {
			t.Errorf("%q: no error", programs)
		}
		return string(out)
	}
	_, port, _ := net.SplitHostPort(e.addrs[1])
	if out := run("/bin/false", "/bin/false"); !strings.Contains(out, "port "+port+" is in use") {
		t.Error(out)
	}
	_ = l.Close()
	for _, programs := range [][]string{{e.programs[0], "/bin/false"}, {"/bin/false", e.programs[1]}} {
		if out := run(programs...); !strings.Contains(out, "run.sh: ") {
			t.Errorf("%q: %s", programs, out)
		}
	}
}
