package example

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/gatehouse/gatehouse/internal/testkit/harness"
)

// shipped is the folder of all examples, as a package two folders below module sees it.
var shipped = filepath.Join("..", "..", "..", "examples")

// Example is a copy of one.
type Example struct {
	// Dir is the copy.
	Dir string
	// addrs is what it listens on, host:port, in the order of the ports in its run.sh.
	addrs []string
	// Env is the environment of what runs in it.
	Env []string
	// Out is what run.sh has written.
	Out *harness.Output

	programs []string // that run.sh is given
	ports    *strings.Replacer
	running  *harness.Child
}

// Copy copies an example of this name, with the ports that its run.sh needs replaced by
// free ones, and builds its programs: Caddy and these commands of the module.
func Copy(t testing.TB, name string, commands ...string) *Example {
	t.Helper()
	top := filepath.Join(t.TempDir(), "examples")
	e := &Example{Dir: filepath.Join(top, name)}
	e.changePorts(t, name)
	for from, to := range map[string]string{
		filepath.Join(shipped, name):          e.Dir,
		filepath.Join(shipped, "programs.sh"): filepath.Join(top, "programs.sh"),
	} {
		harness.FailOn(t, e.copyAll(from, to))
	}
	program, err := filepath.Abs(harness.Program(t))
	harness.FailOn(t, err)
	// ../../caddy, as the READMEs call it.
	harness.FailOn(t, os.Symlink(program, filepath.Join(top, "..", "caddy")))
	e.programs = []string{program}
	for _, c := range commands {
		e.programs = append(e.programs, harness.Command(t, "github.com/gatehouse/gatehouse/examples/"+c))
	}
	e.Env = cleanEnv("CADDY_ADMIN="+e.At("localhost:2019"), "XDG_DATA_HOME="+e.Dir, "XDG_CONFIG_HOME="+e.Dir)
	return e
}

// changePorts reads which ports run.sh needs.
func (e *Example) changePorts(t testing.TB, name string) {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(shipped, name, "run.sh"))
	harness.FailOn(t, err)
	line := regexp.MustCompile(`(?m)^ports (.*)$`).FindStringSubmatch(string(text))
	if line == nil {
		t.Fatal("run.sh does not say which ports it needs")
	}
	needed := strings.Fields(line[1])
	var pairs []string
	for i, port := range harness.FreePorts(t, len(needed)) {
		pairs = append(pairs, needed[i], fmt.Sprint(port))
		e.addrs = append(e.addrs, fmt.Sprintf("127.0.0.1:%d", port))
	}
	e.ports = strings.NewReplacer(pairs...)
}

// At is an address of the example in the copy.
func (e *Example) At(address string) string { return e.ports.Replace(address) }

// copyAll leaves out what a run of the example has left, and the source of its programs.
func (e *Example) copyAll(from, to string) error {
	return filepath.WalkDir(from, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() {
			if _, err := os.Stat(filepath.Join(path, "main.go")); err == nil || d.Name() == "state" || d.Name() == "node_modules" {
				return fs.SkipDir
			}
			return nil
		}
		text, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		if strings.HasSuffix(path, "Caddyfile") {
			text = []byte(harness.ProxyInText(string(text)))
		}
		return harness.WriteProgram(filepath.Join(to, strings.TrimPrefix(path, from)), []byte(e.At(string(text))))
	})
}

// cleanEnv is ours without what would lead an example to somebody's state, and more.
func cleanEnv(more ...string) []string {
	var env []string
	for _, e := range os.Environ() {
		if !strings.HasPrefix(e, "GATEHOUSE_STATE=") {
			env = append(env, e)
		}
	}
	return append(env, more...)
}

// Read is the text of a file in the copy.
func (e *Example) Read(t testing.TB, name string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(e.Dir, name))
	harness.FailOn(t, err)
	return string(text)
}

// Secret reads one where run.sh put it.
func (e *Example) Secret(t testing.TB, name string) string {
	t.Helper()
	m := regexp.MustCompile(`(?m)^export ` + name + `=(\S{43})$`).FindStringSubmatch(e.Read(t, "state/env"))
	if m == nil {
		t.Fatalf("no %s in state/env", name)
	}
	return m[1]
}

// Private checks that nobody else can read these files.
func (e *Example) Private(t testing.TB, names ...string) {
	t.Helper()
	for _, name := range names {
		if info, err := os.Stat(filepath.Join(e.Dir, name)); err != nil {
			t.Error(err)
		} else if info.Mode().Perm()&0o077 != 0 {
			t.Errorf("%s can be read by others: %v", name, info.Mode())
		}
	}
}

// Unwritten checks that a secret is not in what was printed and logged.
func (e *Example) Unwritten(t testing.TB, secret string) {
	t.Helper()
	logs, err := filepath.Glob(filepath.Join(e.Dir, "state", "*.log"))
	if err != nil || len(logs) == 0 {
		t.Errorf("the logs %q: %v", logs, err)
	}
	written := map[string]string{"what run.sh prints": e.Out.String()}
	for _, name := range logs {
		written[name] = e.Read(t, filepath.Join("state", filepath.Base(name)))
	}
	for name, text := range written {
		if strings.Contains(text, secret) {
			t.Errorf("a secret is in %s", name)
		}
	}
}
