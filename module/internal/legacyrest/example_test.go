package legacyrest

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

// shipped is the example, as tests here see it.
var shipped = filepath.Join("..", "..", "..", "examples", "legacy-rest")

// example is a copy of examples/legacy-rest on free ports.
type example struct {
	dir                        string
	issuer, api, files, legacy string
	addrs, env                 []string
	programs                   []string // caddy, legacy
	out                        *harness.Output
	done                       chan error
}

func copyExample(t *testing.T) *example {
	t.Helper()
	e := &example{dir: filepath.Join(t.TempDir(), "examples", "legacy-rest"), out: new(harness.Output), done: make(chan error, 1)}
	var pairs []string
	for i, port := range harness.FreePorts(t, 5) {
		pairs = append(pairs, []string{"8080", "8081", "8082", "8083", "2019"}[i], fmt.Sprint(port))
		e.addrs = append(e.addrs, fmt.Sprintf("127.0.0.1:%d", port))
	}
	ports := strings.NewReplacer(pairs...)
	e.issuer, e.api = ports.Replace("http://localhost:8080"), ports.Replace("http://localhost:8081")
	e.files, e.legacy = ports.Replace("https://localhost:8082"), "http://"+e.addrs[3]
	if err := os.MkdirAll(filepath.Join(e.dir, "files"), 0o755); err != nil {
		t.Fatal(err)
	}
	for name, change := range map[string]*strings.Replacer{
		"Caddyfile": ports, "README.md": ports, "run.sh": ports, "users.json": strings.NewReplacer(), "files/articles.txt": strings.NewReplacer(),
	} {
		text, err := os.ReadFile(filepath.Join(shipped, name))
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(e.dir, name), []byte(change.Replace(string(text))), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	program, err := filepath.Abs(harness.Program(t))
	if err != nil {
		t.Fatal(err)
	}
	// ../../caddy, as the README of an example calls it.
	if err := os.Symlink(program, filepath.Join(e.dir, "..", "..", "caddy")); err != nil {
		t.Fatal(err)
	}
	e.env = append(os.Environ(), "CADDY_ADMIN="+ports.Replace("localhost:2019"), "XDG_DATA_HOME="+e.dir, "XDG_CONFIG_HOME="+e.dir,
		"GATEHOUSE_STATE="+filepath.Join(e.dir, "state"))
	legacy := filepath.Join(t.TempDir(), "legacy")
	if out, err := exec.Command("go", "build", "-o", legacy, "github.com/gatehouse/gatehouse/examples/legacy").CombinedOutput(); err != nil {
		t.Fatalf("building legacy: %v: %s", err, out)
	}
	e.programs = []string{program, legacy}
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

func (e *example) read(t *testing.T, name string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(e.dir, name))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// secret reads a client's secret where run.sh put it.
func (e *example) secret(t *testing.T, name string) string {
	t.Helper()
	m := regexp.MustCompile(`(?m)^export ` + name + `=(\S{43})$`).FindStringSubmatch(e.read(t, "state/env"))
	if m == nil {
		t.Fatalf("no %s in state/env", name)
	}
	return m[1]
}

func TestTheExampleRunsAndItsREADMEWorksLineByLine(t *testing.T) {
	e := start(t)
	for _, want := range []string{e.api, e.legacy, "state/env"} {
		if !strings.Contains(e.out.String(), want) {
			t.Errorf("run.sh does not say %s", want)
		}
	}
	// Every line stands where the page has it, so that the shell's line numbers are the page's.
	var script strings.Builder
	inside := false
	for line := range strings.SplitSeq(e.read(t, "README.md"), "\n") {
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
	file := filepath.Join(t.TempDir(), "walkthrough.sh")
	if err := os.WriteFile(file, []byte(script.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, "bash", "-Eeuo", "pipefail", "-c", `trap 'echo "README.md:$LINENO: $BASH_COMMAND: status $?" >&2' ERR; . "$0"`, file)
	cmd.Dir, cmd.Env, cmd.WaitDelay = e.dir, e.env, time.Second
	said, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, said)
	}
	rest := string(said)
	for _, want := range []string{ // what the text promises, in its order
		`"total":"312"`, `"success":false`, "200", // before
		`"pagination":{"total":62,"page":2,"limit":2,"total_pages":31}`, `rel="next"`, "X-RateLimit-Limit: 600", `"field":"sort"`, // lists
		"/articles/1313", `"state":"draft"`, `"state":"published"`, "The old ferry", // an article's life
		"Idempotency-Replayed: true", `"rel":"self"`, `"rel":"delete"`, // again, and links
		`"field":"title"`, `"field":"body"`, "200", "precondition_failed", "204", "not_found", // constraints and conditions
		"unauthorized", "insufficient_scope", "not_found", "Allow: GET", "method_not_allowed", // errors
		`"/students/3/friends/1"`, "204", // friends
		`"status":200`, `"status":404`, "207", `"field":"/0/op"`, // a batch
		`"state":"queued"`, "not_found", `"state":"succeeded"`, `"imported":3`, `"field":"file_url"`, // jobs
		`"/v1/articles/1002"`, `"created_at":"2024-`, "vnd.acme.v2", "not_found", "not_acceptable", // versions
		"forbidden", `"id":"u-1001"`, // a profile
		`"openapi"`, "getStudent", // a description, and names
		"429", "Retry-After", "rate_limited", // limits
	} {
		_, after, found := strings.Cut(rest, want)
		if !found {
			t.Fatalf("no %s in the rest of the output:\n%s\nThe whole:\n%s", want, rest, said)
		}
		rest = after
	}
	for _, name := range []string{"state/env", "state/state.db", "state/caddy.log", "state/files.key"} {
		if info, err := os.Stat(filepath.Join(e.dir, name)); err != nil || info.Mode().Perm()&0o077 != 0 {
			t.Errorf("%s: others can read it: %v", name, err)
		}
	}
	if log := e.read(t, "state/caddy.log") + e.out.String(); strings.Contains(log, e.secret(t, "EDITOR_SECRET")) {
		t.Error("a secret is in a log")
	}
}

func TestRunNamesAPortThatIsTakenAndEndsWithItsPrograms(t *testing.T) {
	e := copyExample(t)
	l, err := net.Listen("tcp", e.addrs[2])
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
	_, port, _ := net.SplitHostPort(e.addrs[2])
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
