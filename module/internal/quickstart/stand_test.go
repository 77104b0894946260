package quickstart

import (
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/gatehouse/gatehouse/module/internal/harness"
)

// stopWithin is more than Caddy's grace for requests in flight needs when there are none.
const stopWithin = 20 * time.Second

// top is the top folder, as tests here see it.
var top = filepath.Join("..", "..", "..")

// stand is the quick start, started by its own run.sh from a copy on free ports.
type stand struct {
	// dir is the copy of examples/quickstart.
	dir string
	// The addresses, without a slash at the end.
	issuer, api, reader, legacy, admin string
	// addrs are all host:port that are listened on.
	addrs []string

	cmd  *exec.Cmd
	out  *harness.Output
	done chan struct{}
	err  error // of the exit; after done
}

// programsDir is removed after the last test.
var programsDir string

func TestMain(m *testing.M) {
	var err error
	if programsDir, err = os.MkdirTemp("", "quickstart-programs-"); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	code := m.Run()
	_ = os.RemoveAll(programsDir) // a rest in the temporary directory harms nobody
	os.Exit(code)
}

// programs builds legacy and reader once for all tests here and returns where they are.
var programs = sync.OnceValues(func() (string, error) {
	out, err := exec.Command("go", "build", "-o", programsDir+string(filepath.Separator),
		"github.com/gatehouse/gatehouse/examples/legacy", "github.com/gatehouse/gatehouse/examples/quickstart/reader").CombinedOutput()
	if err != nil {
		return "", fmt.Errorf("building legacy and reader: %w: %s", err, out)
	}
	return programsDir, nil
})

// prepare copies the shipped files with the ports changed.
func prepare(t *testing.T) *stand {
	t.Helper()
	ports := harness.FreePorts(t, 5)
	s := &stand{dir: filepath.Join(t.TempDir(), "examples", "quickstart")}
	var pairs []string
	for i, shipped := range []string{"8080", "8081", "8082", "8083", "2019"} {
		s.addrs = append(s.addrs, fmt.Sprintf("127.0.0.1:%d", ports[i]))
		pairs = append(pairs, shipped, fmt.Sprint(ports[i]))
	}
	at := func(i int) string { return fmt.Sprintf("http://localhost:%d", ports[i]) }
	s.issuer, s.api, s.reader, s.legacy, s.admin = at(0), at(1), at(2), "http://"+s.addrs[3], at(4)
	if err := os.MkdirAll(s.dir, 0o755); err != nil {
		t.Fatal(err)
	}
	for name, change := range map[string]*strings.Replacer{
		"Caddyfile": strings.NewReplacer(pairs...), "README.md": strings.NewReplacer(pairs...), "run.sh": strings.NewReplacer(pairs...),
		"users.json": strings.NewReplacer(),
	} {
		text, err := os.ReadFile(filepath.Join(top, "examples", "quickstart", name))
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(s.dir, name), []byte(change.Replace(string(text))), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	program, err := filepath.Abs(harness.Program(t))
	if err != nil {
		t.Fatal(err)
	}
	// ../../caddy, as the README calls it.
	if err := os.Symlink(program, filepath.Join(s.dir, "..", "..", "caddy")); err != nil {
		t.Fatal(err)
	}
	return s
}

// environ keeps the shell's own GATEHOUSE_STATE and secrets out, and Caddy's files
// and admin endpoint apart from those of a Caddy that runs on this machine.
func (s *stand) environ() []string {
	env := []string{"CADDY_ADMIN=" + strings.TrimPrefix(s.admin, "http://"), "XDG_DATA_HOME=" + s.dir, "XDG_CONFIG_HOME=" + s.dir}
	for _, e := range os.Environ() {
		name, _, _ := strings.Cut(e, "=")
		switch name {
		case "GATEHOUSE_STATE", "READER_SECRET", "NIGHTLY_SECRET", "CADDY_ADMIN", "XDG_DATA_HOME", "XDG_CONFIG_HOME":
		default:
			env = append(env, e)
		}
	}
	return env
}

// start runs the quick start until the end of the test.
func start(t *testing.T) *stand {
	t.Helper()
	s := prepare(t)
	s.run(t)
	return s
}

// run starts run.sh and waits until it says that everything is there.
func (s *stand) run(t *testing.T) {
	t.Helper()
	dir, err := programs()
	if err != nil {
		t.Fatal(err)
	}
	s.out, s.done = new(harness.Output), make(chan struct{})
	s.cmd = exec.Command(filepath.Join(s.dir, "run.sh"), filepath.Join(s.dir, "..", "..", "caddy"), filepath.Join(dir, "legacy"), filepath.Join(dir, "reader"))
	s.cmd.Env = s.environ()
	s.cmd.Stdout, s.cmd.Stderr = s.out, s.out
	s.cmd.WaitDelay = time.Second // a program that outlives run.sh holds the pipe
	if err := s.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	go func() {
		s.err = s.cmd.Wait()
		close(s.done)
	}()
	t.Cleanup(func() {
		s.stop(t)
		if t.Failed() {
			t.Logf("run.sh wrote:\n%s\ncaddy.log ends:\n%s", s.out, s.log())
		}
	})
	for deadline := time.Now().Add(60 * time.Second); !strings.Contains(s.out.String(), "Stop with Ctrl-C"); {
		select {
		case <-s.done:
			t.Fatalf("run.sh ended: %v\n%s", s.err, s.out)
		case <-time.After(20 * time.Millisecond):
		}
		if time.Now().After(deadline) {
			t.Fatalf("run.sh is not ready after a minute\n%s", s.out)
		}
	}
}

// stop ends run.sh as a service manager does and checks that nothing of it is left.
func (s *stand) stop(t *testing.T) {
	t.Helper()
	select {
	case <-s.done:
		return
	default:
	}
	_ = s.cmd.Process.Signal(syscall.SIGTERM)
	select {
	case <-s.done:
	case <-time.After(stopWithin):
		_ = s.cmd.Process.Kill()
		t.Errorf("run.sh does not stop\n%s", s.out)
		return
	}
	if s.err != nil {
		t.Errorf("run.sh at SIGTERM: %v\n%s", s.err, s.out)
	}
	s.nothingListens(t)
}

func (s *stand) nothingListens(t *testing.T) {
	t.Helper()
	for _, addr := range s.addrs {
		if c, err := net.Dial("tcp", addr); err == nil {
			_ = c.Close()
			t.Errorf("%s is still listened on after run.sh has ended", addr)
		}
	}
}

func (s *stand) log() string {
	text, err := os.ReadFile(filepath.Join(s.dir, "state", "caddy.log"))
	if err != nil {
		return err.Error()
	}
	return string(text[max(0, len(text)-4000):])
}

// secret reads a client's secret where run.sh put it.
func (s *stand) secret(t *testing.T, name string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(s.dir, "state", "env"))
	if err != nil {
		t.Fatal(err)
	}
	m := regexp.MustCompile(`(?m)^export ` + name + `=(\S+)$`).FindSubmatch(text)
	if m == nil {
		t.Fatal(errors.New("no " + name + " in state/env"))
	}
	return string(m[1])
}
